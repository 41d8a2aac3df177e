/** Which of those who serve its queue a handoff may go to, and whom the rules favour; busy ones count, for it may wait for them. */

import type { Ready } from "./choose.ts";
import type { Handoff, Time } from "./handoff.ts";
import { heldUntil } from "./held.ts";
import { type Routing, tiesOf } from "./routing.ts";
import { isFree, isSound, type Place, type Serving } from "./seats.ts";
import type { WhyRule } from "./why.ts";

export interface Favoured {
  readonly places: readonly Place[];
  /** The rule that left only these; null: none in particular. */
  readonly rule: WhyRule | null;
}

export function favoured(item: Ready, serving: Serving, now: Time, routing: Routing | null): Favoured {
  let places = able(item, serving, now, routing);
  let rule: WhyRule | null = null;
  if (serving.some_unsound) {
    const sound = keep(places, ({ entry }) => entry === null || isSound(entry.standing));
    if (isWorthWaiting(item, sound, now, routing)) places = sound;
    else rule = "no_other";
  }
  const { prefer, avoid } = item;
  if (prefer !== null && now < prefer.until) {
    const same = ofAgent(places, prefer.agent);
    if (same.length > 0) return { places: same, rule: "preferred" };
  }
  if (avoid !== null && now < avoid.until) {
    const others = keep(places, ({ seat }) => !isAvoided(avoid, seat.worker));
    if (others.length > 0 && others !== places) {
      places = others;
      rule = "elsewhere";
    }
  }
  if (routing === null || serving.is_one_agent) return { places, rule };
  return tied(item, places, now, routing) ?? { places: underRoute(item, places, now, routing), rule };
}

/** Those it may go to at all. */
function able(item: Ready, serving: Serving, now: Time, routing: Routing | null): readonly Place[] {
  const { excluded, version_range, deadline_at } = item;
  let { places } = serving;
  if (excluded.length > 0) places = keep(places, ({ seat }) => !excluded.includes(seat.worker.agent));
  if (serving.some_lapsed) places = keep(places, ({ entry }) => entry?.standing.lapsed !== true);
  if (version_range !== null && routing !== null)
    places = keep(places, (place) => offers(place, version_range, routing));
  if (serving.some_slow) places = keep(places, ({ entry }) => (entry?.standing.p50_ms ?? 0) <= deadline_at - now);
  return places;
}

/** Whoever served the last one of its lane or conversation, for a while, if it lives. */
function tied(item: Ready, places: readonly Place[], now: Time, routing: Routing): Favoured | null {
  if (item.lane === null && item.conversation_id === null) return null;
  if (now >= heldUntil(item, routing.sticky_ms)) return null;
  for (const tie of tiesOf(item)) {
    const agent = routing.served(tie);
    const same = agent === null ? [] : ofAgent(places, agent);
    if (same.length > 0) return { places: same, rule: tie.kind };
  }
  return null;
}

/** Those in the range that a route put it under, if any of them lives and is free in time. */
function underRoute(item: Ready, places: readonly Place[], now: Time, routing: Routing): readonly Place[] {
  const { canary } = item;
  if (canary === null) return places;
  const within = keep(places, (place) => offers(place, canary, routing));
  return isWorthWaiting(item, within, now, routing) ? within : places;
}

/** Work is held back for those that are busy only for a while: it must not miss its deadline beside somebody idle. */
function isWorthWaiting(item: Ready, places: readonly Place[], now: Time, routing: Routing | null): boolean {
  if (places.some(isFree)) return true;
  return places.length > 0 && (routing === null || now < heldUntil(item, routing.sticky_ms));
}

export function offers({ entry }: Place, range: string, { inRange }: Routing): boolean {
  return inRange(entry?.standing.version ?? null, range);
}

function ofAgent(places: readonly Place[], agent: string): readonly Place[] {
  return keep(places, ({ seat }) => seat.worker.agent === agent);
}

function isAvoided(avoid: NonNullable<Handoff["avoid"]>, worker: { readonly agent: string; readonly worker: string }) {
  return worker.agent === avoid.agent && (avoid.worker === null || worker.worker === avoid.worker);
}

/** The very same list where all are kept: mostly nothing is left out. */
function keep(places: readonly Place[], isKept: (place: Place) => boolean): readonly Place[] {
  return places.every(isKept) ? places : places.filter(isKept);
}
