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

/** A worker and how many of its slots are left. */
interface Seat {
  readonly worker: FreeWorker;
  free: number;
}

/** Best rank first; each to the fittest worker with a free slot, if any may have it now. */
export function choose(ready: readonly Ready[], workers: readonly FreeWorker[], now: Time): readonly Assignment[] {
  const seats = workers.map((worker): Seat => ({ worker, free: worker.slots }));
  const serving = new Map<string, readonly Seat[]>();
  const servingOf = (queue: string) => {
    const known = serving.get(queue) ?? seats.filter(({ worker }) => worker.queues.has(queue));
    serving.set(queue, known);
    return known;
  };
  const ordered = [...ready].sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1));
  const assignments: Assignment[] = [];
  for (const item of ordered) {
    const seat = pick(item, servingOf(item.queue), now);
    if (seat === undefined) continue;
    seat.free -= 1;
    assignments.push({ id: item.id, agent: seat.worker.agent, worker: seat.worker.worker });
  }
  return assignments;
}

function pick(item: Ready, serving: readonly Seat[], now: Time): Seat | undefined {
  let best: Seat | undefined;
  for (const seat of favoured(item, serving, now)) {
    if (seat.free > 0 && (best === undefined || isFitter(item, seat, best))) best = seat;
  }
  return best;
}

function isFitter(item: Ready, seat: Seat, best: Seat): boolean {
  const nearer = distance(item, best.worker) - distance(item, seat.worker);
  if (nearer !== 0) return nearer > 0;
  return seat.free > best.free || (seat.free === best.free && seat.worker.since < best.worker.since);
}

/** While a preference holds, only those it favours, if any of them lives; otherwise everyone who can. */
function favoured(item: Ready, serving: readonly Seat[], now: Time): readonly Seat[] {
  const { prefer, avoid, excluded } = item;
  const able = excluded.length === 0 ? serving : serving.filter(({ worker }) => !excluded.includes(worker.agent));
  if (prefer !== null && now < prefer.until) {
    const same = able.filter(({ worker }) => worker.agent === prefer.agent);
    if (same.length > 0) return same;
  }
  if (avoid !== null && now < avoid.until) {
    const others = able.filter(({ worker }) => worker.worker !== avoid.worker || worker.agent !== avoid.agent);
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
