/** Which of several agents gets a handoff: the better of two drawn at random, with a share for newcomers. */

import { type Routing, unmeasured } from "./routing.ts";
import type { Entry, Place } from "./seats.ts";
import type { Why } from "./why.ts";

/** An agent that could have it now. */
interface Rival {
  readonly agent: string;
  readonly entry: Entry;
  /** Its free slots: among equals the one with more of them. */
  free: number;
}

/** The agents of these places, in their order. */
export function rivalsOf(places: readonly Place[]): readonly Rival[] {
  const rivals = new Map<string, Rival>();
  for (const { seat, entry } of places) {
    const { agent } = seat.worker;
    const known = rivals.get(agent);
    if (known !== undefined) known.free += seat.free;
    else rivals.set(agent, { agent, entry: entry ?? { standing: unmeasured, in_flight: 0 }, free: seat.free });
  }
  return [...rivals.values()];
}

/** What the next attempt there is expected to cost: in time, by what is before it, by how often it must be repeated. */
function scoreOf({ standing, in_flight }: Entry): number {
  return (standing.latency_ms * (in_flight + 1)) / standing.success;
}

/** `rivals` are at least two. */
export function weigh(
  rivals: readonly Rival[],
  { draw, newcomer_share }: Routing,
): { readonly rival: Rival; readonly why: Why } {
  const among = rivals.length;
  const newcomers = rivals.filter(({ entry }) => entry.standing.newcomer);
  const isMixed = newcomers.length > 0 && newcomers.length < among;
  if (isMixed && draw() < newcomer_share) {
    return { rival: at(newcomers, newcomers.length > 1 ? draw() : 0), why: { rule: "newcomer", among } };
  }
  const judged = isMixed ? rivals.filter(({ entry }) => !entry.standing.newcomer) : rivals;
  if (judged.length === 1) return { rival: at(judged, 0), why: { rule: "established", among } };
  const [one, other] = two(judged, draw);
  const [winner, loser] = isBetter(other, one) ? [other, one] : [one, other];
  const score = Math.round(scoreOf(winner.entry));
  return { rival: winner, why: { rule: "better_of_two", among, score, over: loser.agent } };
}

/** Two different ones, each pair as likely as any other. */
function two(rivals: readonly Rival[], draw: () => number): readonly [Rival, Rival] {
  if (rivals.length === 2) return [at(rivals, 0), at(rivals, 0.5)];
  const one = at(rivals, draw());
  const rest = rivals.filter((rival) => rival !== one);
  return [one, at(rest, draw())];
}

function isBetter(a: Rival, b: Rival): boolean {
  return scoreOf(a.entry) < scoreOf(b.entry) || (scoreOf(a.entry) === scoreOf(b.entry) && a.free > b.free);
}

function at(rivals: readonly Rival[], drawn: number): Rival {
  const rival = rivals[Math.floor(drawn * rivals.length)];
  if (rival === undefined) throw new Error(`drawn ${drawn} of ${rivals.length}: not in [0, 1)`);
  return rival;
}
