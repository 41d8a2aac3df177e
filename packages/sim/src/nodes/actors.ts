/** Senders and workers that know several nodes: each call goes to one of them, and to another when it got no answer. */

import { type Draft, type Duration, type Handoff, liveLease, queueOf, type Time } from "@handfast/core";
import { draft, payload } from "@handfast/core/testing";
import type { Claim, Engine, Submission } from "@handfast/engine";
import { EngineFault } from "@handfast/engine";
import { makeId } from "@handfast/protocol";
import type { Random } from "../random.ts";
import type { Timeline } from "../world/timeline.ts";
import { NodeGone, type SimNode } from "./sim-node.ts";

export const lease_ms: Duration = 8_000;
const answer_ms: Duration = 5_000;
const namespace = "default";

/** What actors were told, and must hold. */
export interface Told {
  readonly accepted: Set<string>;
  /** Outcomes that a worker was told are the handoff's, by handoff. */
  readonly completed: Map<string, string>;
  /** When a lease last beat, and was told so, by handoff and fence. */
  readonly beats: Map<string, Time>;
}

export interface Stage {
  readonly nodes: readonly SimNode[];
  readonly timeline: Timeline;
  readonly told: Told;
  /** Whether workers may still die over their work. */
  readonly isHealed: () => boolean;
}

class Unanswered extends Error {}

/** Until a node has answered: whatever was not answered is said again, perhaps to another. */
async function insist<Answer>(stage: Stage, random: Random, ask: (engine: Engine) => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const up = stage.nodes.filter((node) => node.isUp);
    try {
      if (up.length > 0) return await Promise.race([random.pick(up).ask(ask), tooLong(stage.timeline)]);
    } catch (error) {
      const isPassing =
        error instanceof NodeGone || error instanceof Unanswered || (error instanceof EngineFault && error.code >= 500);
      if (!isPassing) throw error;
    }
    await stage.timeline.sleep(random.between(1, 200));
  }
}

async function tooLong(timeline: Timeline): Promise<never> {
  await timeline.sleep(answer_ms);
  throw new Unanswered("no answer");
}

/** Sends so many, some in lanes, some below what it sent before. */
export async function send(stage: Stage, random: Random, from: string, count: number, lanes: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    await stage.timeline.sleep(random.skewed(0, 400));
    const id = makeId(stage.timeline.now, random.bytes(10));
    const ordering_key = random.chance(0.6) ? `lane ${random.between(1, lanes)}` : null;
    const sent = draft({
      id,
      idempotency_key: `${from} ${n}`,
      from,
      ordering_key,
      terms: { lease_ms, max_attempts: 9 },
    });
    const answer = await insist(stage, random, (engine) => engine.submit([submissionOf(sent)]));
    if (!answer.ok) throw new Error(`refused: ${JSON.stringify(answer.refusals)}`);
    for (const submitted of answer.submitted) stage.told.accepted.add(submitted.id);
  }
}

function submissionOf(sent: Draft): Submission {
  const body = { kind: "handoff", number: 0, document: sent.id, proof: null, payload: null } as const;
  return { draft: sent, queue_if_absent: true, target: { kind: "fits", except: [] }, body };
}

/** Works until told to stop: claims, acknowledges, beats, completes; now and then it dies over its work. */
export async function work(stage: Stage, random: Random, worker: string, isOver: () => boolean): Promise<void> {
  for (let n = 0; !isOver(); n += 1) {
    const claim: Claim = {
      namespace,
      agent: "bob",
      worker,
      queues: () => new Set([queueOf({ to: null, capability: "summarize" })]),
      slots: random.between(1, 3),
      request_id: `${worker} ${n}`,
      wait_ms: 2_000,
      offer: () => ({ manifest: null, attempt_ms: null, idempotent: true, since: 0, check: () => null }),
    };
    const leased = await insist(stage, random, (engine) => engine.claim(claim));
    for (const handoff of leased) await doIt(stage, random, handoff);
  }
}

async function doIt(stage: Stage, random: Random, handoff: Handoff): Promise<void> {
  const { told, timeline } = stage;
  const { id } = handoff.accepted;
  const lease = liveLease(handoff);
  if (lease === null) throw new Error(`claimed ${id} without a lease`);
  const { fence, agent, worker } = lease;
  const held = { fence, agent, worker };
  const perform = (command: Parameters<Engine["perform"]>[2]) =>
    insist(stage, random, (engine) => engine.perform(namespace, id, command));
  if (!stage.isHealed() && random.chance(0.05)) return;
  const { refusal } = await perform({ type: "ack", evidence: "signed", ...held });
  if (refusal !== null) return;
  told.beats.set(`${id} ${fence}`, timeline.now);
  for (let beats = random.skewed(0, 6); beats > 0; beats -= 1) {
    // Some at the last moment: another node may be about to take the lease for lost.
    await timeline.sleep(random.chance(0.3) ? lease_ms - random.between(0, 60) : lease_ms / 2);
    const beaten = await perform({ type: "beat", progress: null, ...held });
    if (beaten.refusal !== null) return;
    told.beats.set(`${id} ${fence}`, timeline.now);
  }
  if (!stage.isHealed() && random.chance(0.1)) return;
  const content = `${worker} under ${fence}`;
  const rest = { fault: null, evidence: "signed", usage: null, artifacts: [] } as const;
  const done = await perform({ type: "complete", ...held, output: payload(content), content, ...rest });
  if (done.refusal === null) told.completed.set(id, content);
}
