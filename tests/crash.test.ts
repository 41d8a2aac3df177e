/**
 * Real crashes: a relay process is killed with SIGKILL at random moments under load and started again on its data.
 * Then everything is drained and every confirmation that anybody ever got is held against what the relay has kept.
 *
 * `KILLS=500 npx vitest run tests/crash.test.ts` kills more often.
 */

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { makeId } from "@handfast/protocol";
import { expect, test } from "vitest";
import { Caller, type Reply } from "./support/caller.ts";
import { RelayProcess } from "./support/relay-process.ts";

const kills = Number(process.env["KILLS"] ?? 25);
const senders = 6;
const workers = 4;
const longest_work_ms = 400;

/** What callers were told, to be held against the relay afterwards. */
class Testimony {
  readonly accepted = new Set<string>();
  readonly acknowledged = new Map<string, number>();
  readonly completed = new Map<string, number>();
  readonly worked = new Map<string, number>();
  /** Definite answers that no honest caller should have got. */
  readonly refused: string[] = [];
}

async function send(caller: Caller, told: Testimony, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const id = makeId(Date.now(), randomBytes(10));
    const reply = await caller.post("/v1/handoffs", { id, capability: "work", input: { n: told.accepted.size } });
    if (reply.status === 202) told.accepted.add(id);
    else told.refused.push(`submit ${describe(reply)}`);
  }
}

async function work(caller: Caller, worker: string, told: Testimony, isOver: () => boolean): Promise<void> {
  const underway = new Set<Promise<void>>();
  while (!isOver()) {
    const slots = 8 - underway.size;
    if (slots === 0) {
      await Promise.race(underway);
      continue;
    }
    const request_id = makeId(Date.now(), randomBytes(10));
    const { body } = await caller.post("/v1/claims", { worker, slots, request_id }, 1);
    for (const lease of leasesOf(body)) {
      const task = handle(caller, worker, lease, told).finally(() => underway.delete(task));
      underway.add(task);
    }
  }
  await Promise.all(underway);
}

interface Lease {
  readonly id: string;
  readonly fence: number;
}

function leasesOf(body: Reply["body"]): readonly Lease[] {
  const { leases } = body;
  if (!Array.isArray(leases)) throw new Error(`no leases in ${JSON.stringify(body)}`);
  return leases;
}

/** A worker that lives through every crash of the relay and finishes what it has begun, under its fence. */
async function handle(caller: Caller, worker: string, { id, fence }: Lease, told: Testimony): Promise<void> {
  const ack = await caller.post(`/v1/handoffs/${id}/ack`, { fence, worker });
  if (ack.status !== 200) return void told.refused.push(`ack ${id} ${describe(ack)}`);
  told.acknowledged.set(id, fence);
  told.worked.set(id, (told.worked.get(id) ?? 0) + 1);
  await sleep(Math.random() * longest_work_ms);
  const done = await caller.post(`/v1/handoffs/${id}/complete`, { fence, worker, output: { id } });
  if (done.status !== 200) return void told.refused.push(`complete ${id} ${describe(done)}`);
  told.completed.set(id, fence);
}

function describe({ status, body }: Reply): string {
  return `${status} ${JSON.stringify(body).slice(0, 300)}`;
}

async function historyOf(caller: Caller, id: string): Promise<readonly Record<string, unknown>[]> {
  const { body } = await caller.get(`/v1/handoffs/${id}/events?limit=100`);
  const { events } = body;
  if (!Array.isArray(events)) throw new Error(`no events in ${JSON.stringify(body)}`);
  return events;
}

test(`${kills} times SIGKILL under load: nothing accepted is lost, nothing is completed twice`, {
  timeout: 60_000 + kills * 6_000,
}, async () => {
  const relay = await RelayProcess.start(["--requests-per-second", "100000", "--request-burst", "100000"]);
  try {
    const told = new Testimony();
    const sender = await Caller.named(relay.url, "sender");
    const agent = await Caller.named(relay.url, "agent", [{ name: "work" }]);
    let sending = true;
    let working = true;
    const sent = Array.from({ length: senders }, () => send(sender, told, () => !sending));
    const worked = Array.from({ length: workers }, (_, n) => work(agent, `worker-${n}`, told, () => !working));

    for (let kill = 0; kill < kills; kill += 1) {
      await sleep(100 + Math.random() * 700);
      await relay.end("SIGKILL");
      await relay.start();
    }
    sending = false;
    await Promise.all(sent);
    for (const id of told.accepted) await sender.get(`/v1/handoffs/${id}?until=ended`, 30);
    working = false;
    await Promise.all(worked);

    expect(told.refused).toEqual([]);
    expect(told.accepted.size).toBeGreaterThan(kills * 5);
    expect(sender.repeats + agent.repeats).toBeGreaterThan(kills);
    for (const id of told.accepted) {
      const { body } = await sender.get(`/v1/handoffs/${id}`);
      const events = await historyOf(sender, id);
      const types = events.map(({ type }) => type);
      // Every lease lived through every restart: one delivery, one ack, one outcome, all under the first fence.
      expect({ id, state: body["state"], fence: body["fence"], types }).toEqual({
        id,
        state: "completed",
        fence: 1,
        types: ["accepted", "delivered", "acknowledged", "completed"],
      });
      expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
      expect(told.worked.get(id)).toBe(1);
    }
    for (const confirmed of [told.acknowledged, told.completed]) {
      expect(new Set(confirmed.keys())).toEqual(told.accepted);
      expect(new Set(confirmed.values())).toEqual(new Set([1]));
    }
    process.stdout.write(
      `${kills} kills: ${told.accepted.size} handoffs accepted and completed, ${sender.repeats + agent.repeats} calls repeated, 0 lost, 0 twice\n`,
    );
  } finally {
    await relay.dispose();
  }
});
