/**
 * Whether a handoff under a contract that waited for too long was kept waiting by its own asker.
 *
 * By silence: what its questions to the asker waited for makes a quarter of the agreed time or more. Whoever asks in the last
 * quarter, or gives less time to answer than that, does so on its own account; and whoever lets a question lie for a quarter cannot
 * complain that the rest was too short.
 *
 * Where the asker did answer, and the answer did not fit what the question demands, nobody can tell whether the question or the
 * answer is at fault: the time since counts as neither's. A question beyond those agreed on is the provider's own affair.
 *
 * By its order: the asker's own earlier work stood before it in its lane for as long, together with these waits; or until less
 * was left than one attempt may take. That shortens the deadline only: the other clocks begin after it.
 *
 * By a crowd: the provider agreed to take so many at a time, and while this one waited for it, other work of the same asker took up
 * half of the time that so many slots have. What counts is time, not attempts: work that is failed at once has taken none. Half, since a
 * slot is empty between two pieces of short work. A provider that idles has spent less on the asker; one that is busy for others too.
 */

import type { Change } from "./change.ts";
import { type Duration, type Handoff, liveLease, type Time } from "./handoff.ts";

/** `relay_away`: what the provider did for the asker meanwhile is not known any more. */
export type AskersDelay = "asker_silent" | "answer_refused" | "blocked" | "crowded" | "relay_away";

/** Of the agreed time: how much of it the asker may take before the rest is not the provider's to answer for. */
const share = 1 / 4;

/** Of the time that the agreed slots have: how much of it other work of the asker must have taken. */
const crowd_share = 1 / 2;

/** Null: it was not. */
export function askersDelay(change: Change): AskersDelay | null {
  const most_ms = change.handoff.accepted.terms.deadline_ms * share;
  const { silent_ms, refused_ms } = answerWaits(change);
  if (silent_ms >= most_ms) return "asker_silent";
  if (silent_ms + refused_ms >= most_ms) return "answer_refused";
  return isHeldUp(change, most_ms - silent_ms - refused_ms) ? "blocked" : crowd(change);
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

/** For how long it waited for the asker, and for another answer of it. Whom else a provider asks, and for how long, is its own affair. */
function answerWaits({ handoff, now }: Change): { readonly silent_ms: Duration; readonly refused_ms: Duration } {
  let [silent_ms, refused_ms] = [0, 0];
  for (const { to, beyond_agreed, asked_at, refused_at, resolution } of handoff.questions) {
    if (to !== null || beyond_agreed === true) continue;
    const until = resolution?.at ?? now;
    const tried_at = refused_at ?? until;
    silent_ms += tried_at - asked_at;
    refused_ms += until - tried_at;
  }
  return { silent_ms, refused_ms };
}

function crowd(change: Change): AskersDelay | null {
  const { handoff, now, context } = change;
  const { asker_work = null } = context;
  const most = handoff.accepted.contract?.max_concurrent;
  if (most === undefined || !wasLeftWaiting(change)) return null;
  if (asker_work === null) return "relay_away";
  const { from, until } = waitOf(handoff, now);
  return until > from && asker_work >= most * (until - from) * crowd_share ? "crowded" : null;
}

/** From when on it could be given out, and until it was, or time was up. */
export function waitOf(handoff: Handoff, now: Time): { readonly from: Time; readonly until: Time } {
  const { accepted_at, deadline_at } = handoff.accepted;
  const until = liveLease(handoff)?.delivered_at ?? Math.min(now, deadline_at);
  return { from: handoff.unblocked_at ?? accepted_at, until };
}

/** Never in hand; or now for the first time, after a long wait and with too little time left. What was in hand before is the provider's. */
function wasLeftWaiting(change: Change): boolean {
  const { accepted, holders } = change.handoff;
  const lease = liveLease(change.handoff);
  if (lease === null) return holders.length === 0;
  const waited_ms = lease.delivered_at - accepted.accepted_at;
  const left_ms = accepted.deadline_at - lease.delivered_at;
  return holders.length === 1 && waited_ms >= accepted.terms.deadline_ms * share && left_ms < attemptOf(change);
}
