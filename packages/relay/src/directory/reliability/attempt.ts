/** One lease as far as reliability is concerned: who has it, since when, and for how long it could not go on. */

import { type Duration, type Handoff, liveLease, type Time } from "@handfast/core";

export interface Attempt {
  readonly agent: string;
  readonly capability: string;
  readonly fence: number;
  readonly delivered_at: Time;
  acknowledged_at: Time | null;
  /** Since when it has waited for an answer; null: it does not wait. */
  waiting_since: Time | null;
  /** For how long it waited before. */
  waited_ms: Duration;
}

/** What the record of an open handoff says of the attempt that runs, just as its events would; null: nobody has it. */
export function attemptOf(handoff: Handoff): Attempt | null {
  const { accepted, status, questions } = handoff;
  const lease = liveLease(handoff);
  if (lease === null || accepted.capability === null) return null;
  let waiting_since: Time | null = null;
  let waited_ms = 0;
  for (const { id, fence, asked_at, resolution } of questions) {
    if (fence !== lease.fence) continue;
    if (status.state === "waiting" && status.question === id) waiting_since = asked_at;
    else if (resolution !== null) waited_ms += resolution.at - asked_at;
  }
  const { agent, fence, delivered_at, acknowledged_at } = lease;
  return { agent, capability: accepted.capability, fence, delivered_at, acknowledged_at, waiting_since, waited_ms };
}

/**
 * From the ack to the end, without the time it waited for answers. Where the ack came only with the outcome, the work was
 * done before it: then from the delivery. Null: nobody acknowledged it.
 */
export function tookMs(attempt: Attempt, ended_at: Time): Duration | null {
  const { delivered_at, acknowledged_at, waiting_since, waited_ms } = attempt;
  if (acknowledged_at === null) return null;
  const began_at = acknowledged_at === ended_at ? delivered_at : acknowledged_at;
  const still_ms = waited_ms + (waiting_since === null ? 0 : ended_at - waiting_since);
  return Math.max(0, ended_at - began_at - still_ms);
}
