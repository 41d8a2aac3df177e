/**
 * A worker's process on plain HTTP with a token. It writes its claims down before it makes them: the next life repeats
 * them, gets the same leases under the same fences, and goes on where this one was killed.
 */

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { makeId } from "@handfast/protocol";
import type { LeaseView, Operations } from "@handfast/protocol/wire";
import { Caller } from "../support/caller.ts";
import { Journal } from "./journal.ts";
import { readSettings, sayReady, toldToFinish } from "./life.ts";
import type { WorkerLine } from "./lines.ts";
import { type Done, done, isTask, type Kept, step_count, stepsIn, type Task } from "./task.ts";

const { url, worker, token, journal: path } = readSettings();
const { journal, lines } = Journal.open<WorkerLine>(path);
const caller = Caller.withToken(url, token);
const slots = 8;
const beats = 3;
const wait_seconds = 2;
/** Codes that say: the lease is another's by now. */
const over: ReadonlySet<number> = new Set([408, 410, 412]);

const underway = new Set<Promise<void>>();
const begun = new Set(lines.flatMap((line) => (line.said === "began" ? [`${line.id} ${line.fence}`] : [])));
const results = new Map(
  lines.flatMap((line) => (line.said === "did" ? [[`${line.key} ${line.fence}`, line.output]] : [])),
);

type Claimed = Operations["claim"]["reply"];

class LeaseOver extends Error {}

/** An act of the holder; whatever else than a confirmation or a lost lease is a fault of the relay. */
async function act({ id, fence }: LeaseView, name: string, body: object): Promise<void> {
  const reply = await caller.post(`/v1/handoffs/${id}/${name}`, { fence, worker, ...body });
  if (reply.status === 200) return;
  if (over.has(reply.status)) throw new LeaseOver();
  throw new Error(`${name} was answered with ${reply.status}: ${JSON.stringify(reply.body)}`);
}

async function handle(lease: LeaseView): Promise<void> {
  const { id, fence, idempotency_key: key, lease_ms } = lease;
  const { input: task } = lease;
  if (!isTask(task)) throw new Error(`this is no task: ${JSON.stringify(task)}`);
  const ended = new AbortController();
  try {
    await act(lease, "ack", {});
    void beat(lease, lease_ms / beats, ended.signal);
    const steps = stepsIn(lease.checkpoint?.state ?? null);
    const resumed = begun.has(`${id} ${fence}`);
    journal.write({ said: "began", key, id, fence, steps, resumed });
    await act(lease, "complete", { output: results.get(`${key} ${fence}`) ?? (await workOn(lease, task, steps)) });
  } catch (error) {
    if (!(error instanceof LeaseOver)) throw error;
  } finally {
    ended.abort();
  }
}

async function workOn(lease: LeaseView, task: Task, steps_done: number): Promise<Done> {
  const { idempotency_key: key, fence } = lease;
  const steps_left = task.kind === "steps" ? step_count - steps_done : 1;
  for (let left = steps_left; left > 0; left -= 1) {
    await sleep(task.work_ms / steps_left);
    if (task.kind !== "steps") continue;
    const state: Kept = { steps: step_count - left + 1 };
    await act(lease, "checkpoint", { state });
    journal.write({ said: "kept", key, fence, steps: state.steps });
  }
  const output = done(task, key, worker, fence);
  journal.write({ said: "did", key, fence, output });
  return output;
}

/** Until the work is over; a lost lease is found out by the next act. */
async function beat({ id, fence }: LeaseView, every_ms: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(every_ms, undefined, { signal }).catch(() => {});
    if (!signal.aborted) await caller.post(`/v1/handoffs/${id}/heartbeat`, { fence, worker });
  }
}

async function claim(request_id: string, free: number): Promise<void> {
  const { status, body } = await caller.post<Claimed>("/v1/claims", { worker, slots: free, request_id }, wait_seconds);
  if (status !== 200) throw new Error(`the claim was answered with ${status}: ${JSON.stringify(body)}`);
  for (const lease of body.leases) {
    const task = handle(lease).finally(() => underway.delete(task));
    underway.add(task);
  }
}

async function serve(isOver: () => boolean): Promise<void> {
  const before = lines.flatMap((line) => (line.said === "claims" ? [line.request_id] : [])).slice(-slots);
  await Promise.all(before.map((request_id) => claim(request_id, 1)));
  while (!isOver()) {
    if (underway.size >= slots) {
      await Promise.race(underway);
      continue;
    }
    const request_id = makeId(Date.now(), randomBytes(10));
    journal.write({ said: "claims", request_id });
    await claim(request_id, slots - underway.size);
  }
}

let isOver = false;
void toldToFinish().then(() => {
  isOver = true;
});
sayReady();
await serve(() => isOver);
await Promise.all(underway);
process.exit(0);
