/** Honest senders and workers that keep a relay busy, remember what they were told, and hold it against the relay afterwards. */

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { makeId } from "@handfast/protocol";
import { expect } from "vitest";
import { Caller, type Reply } from "./caller.ts";

const senders = 6;
const workers = 4;
const slots_per_worker = 8;
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
    const slots = slots_per_worker - underway.size;
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

export class Load {
  readonly told = new Testimony();
  readonly sender: Caller;
  readonly agent: Caller;
  #sending = true;
  #working = true;
  readonly #sent: readonly Promise<void>[];
  readonly #worked: readonly Promise<void>[];

  private constructor(sender: Caller, agent: Caller) {
    this.sender = sender;
    this.agent = agent;
    this.#sent = Array.from({ length: senders }, () => send(sender, this.told, () => !this.#sending));
    this.#worked = Array.from({ length: workers }, (_, n) =>
      work(agent, `worker-${n}`, this.told, () => !this.#working),
    );
  }

  static async start(url: string): Promise<Load> {
    const sender = await Caller.named(url, "sender");
    return new Load(sender, await Caller.named(url, "agent", [{ name: "work" }]));
  }

  get repeats(): number {
    return this.sender.repeats + this.agent.repeats;
  }

  /** No more submits; waits until everything accepted has ended. */
  async drain(): Promise<void> {
    this.#sending = false;
    await Promise.all(this.#sent);
    for (const id of this.told.accepted) await this.sender.get(`/v1/handoffs/${id}?until=ended`, 30);
    this.#working = false;
    await Promise.all(this.#worked);
  }

  /**
   * Nothing accepted is lost, nothing was completed twice, every confirmation has its row; and since every worker lived
   * through everything that happened to the relay, all of it was done under the first fence.
   */
  async check(): Promise<void> {
    const { told } = this;
    expect(told.refused).toEqual([]);
    for (const id of told.accepted) {
      const { body } = await this.sender.get(`/v1/handoffs/${id}`);
      const events = await historyOf(this.sender, id);
      const types = events.map(({ type }) => type);
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
  }
}
