/**
 * Fills a store with handoffs that wait and handoffs that were done, by the engine itself: every row, event and index
 * entry is what it writes for a relay. Documents and payloads are the specimens', under new ids (so their signatures are
 * of the right size, and not right).
 */

import { randomBytes } from "node:crypto";
import { type Draft, type Handoff, hasEnded, queueOf } from "@handfast/core";
import { type Body, Engine, realSurroundings, type Submission } from "@handfast/engine";
import { makeId } from "@handfast/protocol";
import { openSqliteStore } from "@handfast/store-sqlite";
import type { Say } from "../obtain/say.ts";
import type { Specimen, Specimens } from "./specimen.ts";

export interface Amounts {
  readonly queued: number;
  /** Held by a worker that acknowledged them and will never be heard of again. */
  readonly working: number;
  readonly finished: number;
}

const batch = 256;
const batches_at_once = 8;
const worker = { namespace: "default", agent: "filled", worker: "filled-1" };
const enough = 1_000_000_000;

export async function fillStore(directory: string, specimens: Specimens, amounts: Amounts, say: Say): Promise<void> {
  const store = await openSqliteStore({ directory });
  const engine = new Engine({
    store,
    surroundings: realSurroundings(),
    others: () => 1,
    coreLimits: { max_open_per_sender: enough },
  });
  await engine.start();
  try {
    await inBatches(amounts.finished, "finished", say, async (size) => {
      const leases = await leased(engine, specimens.finished, size);
      await Promise.all(leases.map((lease) => finish(engine, specimens.finished, lease)));
    });
    await inBatches(amounts.working, "at work", say, async (size) => {
      const leases = await leased(engine, specimens.finished, size);
      await Promise.all(leases.map((lease) => acknowledge(engine, specimens.finished, lease)));
    });
    await inBatches(amounts.queued, "queued", say, (size) => submit(engine, specimens.queued, size));
  } finally {
    await engine.stop();
    await store.close();
  }
}

/** Several batches at once, so that their commands share commits as under load. */
async function inBatches(total: number, what: string, say: Say, fill: (size: number) => Promise<void>): Promise<void> {
  let [begun, done, told] = [0, 0, 0];
  const loop = async () => {
    while (begun < total) {
      const size = Math.min(batch, total - begun);
      begun += size;
      await fill(size);
      done += size;
      if (done - told < 100_000 && done < total) continue;
      told = done;
      say(`filling the store: ${done.toLocaleString("en")} of ${total.toLocaleString("en")} handoffs ${what}`);
    }
  };
  await Promise.all(Array.from({ length: batches_at_once }, loop));
}

async function submit(engine: Engine, specimen: Specimen, size: number): Promise<void> {
  const answer = await engine.submit(Array.from({ length: size }, () => submissionOf(engine, specimen)));
  if (!answer.ok) throw new Error(`the engine refused to be filled: ${JSON.stringify(answer.refusals[0])}`);
}

async function leased(engine: Engine, specimen: Specimen, size: number): Promise<readonly Handoff[]> {
  const leases: Handoff[] = [];
  await submit(engine, specimen, size);
  while (leases.length < size) {
    const more = await engine.claim({
      ...worker,
      queues: () => new Set([queueOf(specimen.handoff.accepted)]),
      slots: size - leases.length,
      request_id: newId(engine),
      wait_ms: 1_000,
      offer: () => ({ manifest: null, attempt_ms: null, idempotent: true, since: 0, check: () => null }),
    });
    leases.push(...more);
  }
  return leases;
}

async function acknowledge(engine: Engine, specimen: Specimen, { accepted: { id }, fence }: Handoff): Promise<void> {
  const command = { type: "ack", agent: worker.agent, fence, evidence: "signed" } as const;
  await engine.perform("default", id, command, enclosed(specimen, "ack", id));
}

async function finish(engine: Engine, specimen: Specimen, lease: Handoff): Promise<void> {
  const { status } = specimen.handoff;
  if (!hasEnded(status) || status.outcome.output === null) throw new Error("the specimen has no outcome");
  const { content, evidence, usage, artifacts, output } = status.outcome;
  const { id, from } = lease.accepted;
  await acknowledge(engine, specimen, lease);
  const holder = { agent: worker.agent, worker: worker.worker, fence: lease.fence };
  const complete = { type: "complete", ...holder, output, fault: null, content, evidence, usage, artifacts } as const;
  const { refusal } = await engine.perform("default", id, complete, enclosed(specimen, "outcome", id));
  if (refusal !== null) throw new Error(`the engine refused to be filled: ${refusal.message}`);
  await engine.perform("default", id, { type: "take", actor: { kind: "agent", agent: from } });
}

function submissionOf(engine: Engine, { handoff, bodies }: Specimen): Submission {
  const { accepted_at, deadline_at, hops, budget_holders, ...accepted } = handoff.accepted;
  const id = newId(engine);
  const renamed = { id, idempotency_key: id, content: `${accepted.content.slice(0, -12)}${id.slice(-12)}` };
  const draft: Draft = { ...accepted, ...renamed, correlation_id: null };
  const target = { kind: "fits", except: [] } as const;
  return { draft, queue_if_absent: true, target, body: bodyOf(bodies, "handoff", handoff.accepted.id, id) };
}

function enclosed({ handoff, bodies }: Specimen, kind: Body["kind"], id: string) {
  return { body: bodyOf(bodies, kind, handoff.accepted.id, id), artifacts: [] };
}

function bodyOf(bodies: readonly Body[], kind: Body["kind"], specimen: string, id: string): Body {
  const body = bodies.find((one) => one.kind === kind);
  if (body === undefined) throw new Error(`the specimen has no ${kind}`);
  return { ...body, document: body.document?.replaceAll(specimen, id) ?? null };
}

function newId(engine: Engine): string {
  return makeId(engine.now(), randomBytes(10));
}
