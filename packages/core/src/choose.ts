/** Which ready handoff goes to which worker. Pure, like `decide`. */

import type { Handoff, Time } from "./handoff.ts";

/** A handoff that can be delivered now. */
export interface Ready {
  readonly id: string;
  readonly queue: string;
  readonly rank: number;
  readonly excluded: readonly string[];
  readonly avoid: Handoff["avoid"];
  readonly prefer: Handoff["prefer"];
}

/** A live worker; `slots` 0: busy, but it exists, so work may be held back for it for a moment. */
export interface FreeWorker {
  readonly agent: string;
  readonly worker: string;
  readonly queues: ReadonlySet<string>;
  readonly slots: number;
  /** Since when it has been waiting: the longest waiting goes first among equals. */
  readonly since: Time;
}

export interface Assignment {
  readonly id: string;
  readonly agent: string;
  readonly worker: string;
}

/** Best rank first; each to the fittest worker with a free slot, if any may have it now. */
export function choose(ready: readonly Ready[], workers: readonly FreeWorker[], now: Time): readonly Assignment[] {
  const slots = new Map(workers.map((worker) => [worker, worker.slots]));
  const ordered = [...ready].sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1));
  const assignments: Assignment[] = [];
  for (const item of ordered) {
    const able = workers.filter((worker) => worker.queues.has(item.queue) && !item.excluded.includes(worker.agent));
    const worker = pick(item, able, slots, now);
    if (worker === undefined) continue;
    slots.set(worker, (slots.get(worker) ?? 0) - 1);
    assignments.push({ id: item.id, agent: worker.agent, worker: worker.worker });
  }
  return assignments;
}

function pick(item: Ready, able: readonly FreeWorker[], slots: ReadonlyMap<FreeWorker, number>, now: Time) {
  const wanted = favoured(item, able, now);
  let best: FreeWorker | undefined;
  for (const worker of wanted) {
    const free = slots.get(worker) ?? 0;
    if (free <= 0) continue;
    const bestFree = best === undefined ? 0 : (slots.get(best) ?? 0);
    if (best === undefined || distance(item, worker) < distance(item, best)) best = worker;
    else if (distance(item, worker) > distance(item, best)) continue;
    else if (free > bestFree || (free === bestFree && worker.since < best.since)) best = worker;
  }
  return best;
}

/** While a preference holds, only those it favours, if any of them lives; otherwise everyone who can. */
function favoured(item: Ready, able: readonly FreeWorker[], now: Time): readonly FreeWorker[] {
  const { prefer, avoid } = item;
  if (prefer !== null && now < prefer.until) {
    const same = able.filter((worker) => worker.agent === prefer.agent);
    if (same.length > 0) return same;
  }
  if (avoid !== null && now < avoid.until) {
    const others = able.filter((worker) => worker.worker !== avoid.worker || worker.agent !== avoid.agent);
    if (others.length > 0) return others;
  }
  return able;
}

/** After an unacknowledged delivery: another worker of the same agent first, then another agent, then the same again. */
function distance({ avoid }: Ready, { agent, worker }: FreeWorker): number {
  if (avoid === null) return 0;
  if (agent !== avoid.agent) return 1;
  return worker === avoid.worker ? 2 : 0;
}
