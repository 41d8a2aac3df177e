/**
 * Whether a handoff under a contract that waited for too long was kept waiting by its own asker.
 *
 * By silence: what its questions to the asker waited for makes a quarter of the agreed time or more. Whoever asks in the last
 * quarter, or gives less time to answer than that, does so on its own account; and whoever lets a question lie for a quarter cannot
 * complain that the rest was too short.
 *
 * By its order: the asker's own earlier work stood before it in its lane for as long, together with that silence; or until less
 * was left than one attempt may take. That shortens the deadline only: the other clocks begin after it.
 *
 * By a crowd: the provider agreed to take so many at a time and to need at most so long for each, and while this one waited it gave
 * the same asker as many attempts as that makes. A provider that idles has given fewer; one that is busy for others too.
 */

import type { Change } from "./change.ts";
import { type Duration, liveLease } from "./handoff.ts";

/** `relay_away`: what the provider did for the asker meanwhile is not known any more. */
export type AskersDelay = "asker_silent" | "blocked" | "crowded" | "relay_away";

/** Of the agreed time: how much of it the asker may take before the rest is not the provider's to answer for. */
const share = 1 / 4;

/** Null: it was not. */
export function askersDelay(change: Change): AskersDelay | null {
  const most_ms = change.handoff.accepted.terms.deadline_ms * share;
  const silent_ms = silence(change);
  if (silent_ms >= most_ms) return "asker_silent";
  return isHeldUp(change, most_ms - silent_ms) ? "blocked" : crowd(change);
}

/** Whether its lane took so much of the time to its deadline, or left less than one attempt may take. */
function isHeldUp(change: Change, most_ms: Duration): boolean {
  const { unblocked_at, accepted } = change.handoff;
  const { accepted_at, deadline_at } = accepted;
  if (unblocked_at === undefined || change.now < deadline_at) return false;
  return unblocked_at - accepted_at >= most_ms || deadline_at - unblocked_at < attemptOf(change);
}

/** How long one attempt may take, as agreed on. */
function attemptOf({ handoff, context }: Change): Duration {
  const { attempt_ms, deadline_ms } = handoff.accepted.terms;
  return Math.min(attempt_ms ?? context.limits.default_attempt_ms, deadline_ms);
}

/** For how long it waited for the asker. Whom else a provider asks, and for how long, is its own affair. */
function silence({ handoff, now }: Change): Duration {
  return handoff.questions
    .filter(({ to }) => to === null)
    .reduce((sum, { asked_at, resolution }) => sum + (resolution?.at ?? now) - asked_at, 0);
}

function crowd(change: Change): AskersDelay | null {
  const { handoff, now, context } = change;
  const { contract, accepted_at, deadline_at } = handoff.accepted;
  const { asker_work = null } = context;
  const most = contract?.max_concurrent;
  const attempt_ms = attemptOf(change);
  if (most === undefined || !wasLeftWaiting(change, attempt_ms)) return null;
  if (asker_work === null) return "relay_away";
  const rounds = Math.max(1, Math.floor((Math.min(now, deadline_at) - accepted_at) / attempt_ms));
  return asker_work >= most * rounds ? "crowded" : null;
}

/** Never in hand; or now for the first time, after a long wait and with too little time left. What was in hand before is the provider's. */
function wasLeftWaiting({ handoff }: Change, attempt_ms: Duration): boolean {
  const { accepted, holders } = handoff;
  const lease = liveLease(handoff);
  if (lease === null) return holders.length === 0;
  const waited_ms = lease.delivered_at - accepted.accepted_at;
  const left_ms = accepted.deadline_at - lease.delivered_at;
  return holders.length === 1 && waited_ms >= accepted.terms.deadline_ms * share && left_ms < attempt_ms;
}
