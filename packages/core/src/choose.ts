/**
 * Which ready handoff goes to which worker, and why. Pure, like `decide`.
 *
 * Best rank first. For each: who may have it at all, whom the rules favour, then, among the agents of those with a free slot, the
 * better of two drawn at random; among the agent's workers the least loaded, then the one that waits longest.
 */

import { favoured, offers } from "./favour.ts";
import type { Handoff, Time } from "./handoff.ts";
import type { Routing } from "./routing.ts";
import { isFree, type Place, Seats } from "./seats.ts";
import { rivalsOf, weigh } from "./weigh.ts";
import type { Why } from "./why.ts";

/** A handoff that can be delivered now. */
export interface Ready {
  readonly id: string;
  readonly queue: string;
  readonly rank: number;
  readonly excluded: readonly string[];
  readonly avoid: Handoff["avoid"];
  readonly prefer: Handoff["prefer"];
  readonly capability: string | null;
  readonly ready_at: Time;
  readonly deadline_at: Time;
  readonly queue_until: Time | null;
  /** The range of versions that its sender asks for. */
  readonly version_range: string | null;
  /** The range of versions that a route put it under. */
  readonly canary: string | null;
  readonly from: string;
  /** What ties it to an agent, where more than one could have it. */
  readonly lane: string | null;
  readonly conversation_id: string | null;
}

/** A live worker; `slots` 0: busy, but it exists, so work may be held back for it for a moment. */
export interface FreeWorker {
  readonly agent: string;
  readonly worker: string;
  readonly queues: ReadonlySet<string>;
  /** Of these queues only work for one of these capabilities. */
  readonly only?: ReadonlySet<string> | undefined;
  readonly slots: number;
  /** Since when it has been waiting: the longest waiting goes first among equals. */
  readonly since: Time;
}

export interface Assignment {
  readonly id: string;
  readonly agent: string;
  readonly worker: string;
  readonly why: Why;
}

/** Best rank first; each to the fittest worker with a free slot, if any may have it now. `routing` null: all agents are equal. */
export function choose(
  ready: readonly Ready[],
  workers: readonly FreeWorker[],
  now: Time,
  routing: Routing | null = null,
): readonly Assignment[] {
  const seats = new Seats(workers, routing);
  const ordered = [...ready].sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1));
  const assignments: Assignment[] = [];
  for (const item of ordered) {
    const picked = pick(item, seats, now, routing);
    if (picked === undefined) continue;
    const { place, why } = picked;
    place.seat.free -= 1;
    if (place.entry !== null) place.entry.in_flight += 1;
    const { agent, worker } = place.seat.worker;
    assignments.push({ id: item.id, agent, worker, why });
  }
  return assignments;
}

interface Picked {
  readonly place: Place;
  readonly why: Why;
}

function pick(item: Ready, seats: Seats, now: Time, routing: Routing | null): Picked | undefined {
  const serving = seats.serving(item.queue, item.capability);
  const { places, rule } = favoured(item, serving, now, routing);
  const best = fittest(item, places);
  if (best === undefined) return undefined;
  const picked = serving.is_one_agent ? onlyAgent(best) : amongAgents(item, places, best, routing);
  if (rule === null && (item.canary === null || routing === null)) return picked;
  const ruled = rule === null ? picked.why : { ...picked.why, rule };
  if (item.canary === null || routing === null) return { place: picked.place, why: ruled };
  const canary = { version: item.canary, met: offers(picked.place, item.canary, routing) };
  return { place: picked.place, why: { ...ruled, canary } };
}

const only: Why = { rule: "only", among: 1 };

function onlyAgent(place: Place): Picked {
  return { place, why: only };
}

/** One of the agents that have a free slot as near as the best one's. */
function amongAgents(item: Ready, places: readonly Place[], best: Place, routing: Routing | null): Picked {
  const near = distance(item, best.seat.worker);
  const candidates = places.filter((place) => isFree(place) && distance(item, place.seat.worker) === near);
  const rivals = rivalsOf(candidates);
  if (rivals.length === 1) return onlyAgent(best);
  if (routing === null) return { place: best, why: { rule: "least_loaded", among: rivals.length } };
  const { rival, why } = weigh(rivals, routing);
  const own = candidates.filter(({ seat }) => seat.worker.agent === rival.agent);
  return { place: fittest(item, own) ?? best, why };
}

/** The nearest with a free slot; among those the one with more of them, then the one that waits longest. */
function fittest(item: Ready, places: readonly Place[]): Place | undefined {
  let best: Place | undefined;
  for (const place of places) if (isFree(place) && (best === undefined || isFitter(item, place, best))) best = place;
  return best;
}

function isFitter(item: Ready, { seat }: Place, { seat: best }: Place): boolean {
  const nearer = distance(item, best.worker) - distance(item, seat.worker);
  if (nearer !== 0) return nearer > 0;
  return seat.free > best.free || (seat.free === best.free && seat.worker.since < best.worker.since);
}

/**
 * After an unacknowledged delivery: another worker of the same agent first, then another agent, then the same again. After a
 * failed attempt: another agent first.
 */
function distance({ avoid }: Ready, { agent, worker }: FreeWorker): number {
  if (avoid === null) return 0;
  if (avoid.worker === null) return agent === avoid.agent ? 1 : 0;
  if (agent !== avoid.agent) return 1;
  return worker === avoid.worker ? 2 : 0;
}
