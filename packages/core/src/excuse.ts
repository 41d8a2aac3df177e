/**
 * Why an attempt that came to nothing does not speak against the agent that held it. A sender may set every clock as short as
 * it likes; only one that gave the agent what it promised, or what the relay gives by default, says something of the agent.
 * And it may expect any output; only what the agent itself offers is held against it.
 */

import type { Change } from "./change.ts";
import type { Duration, Lease } from "./handoff.ts";

export type AttemptExcuse = "hurried" | "beyond_offer";

/** The clocks that end an attempt. */
export type AttemptClock = "ack" | "lease" | "attempt" | "deadline";

/** Null: the clock gave the agent all the time that was due to it. */
export function excuseOf(change: Change, lease: Lease | null, clock: AttemptClock): AttemptExcuse | null {
  return lease !== null && isHurried(change, lease, clock) ? "hurried" : null;
}

function isHurried(change: Change, lease: Lease, clock: AttemptClock): boolean {
  const { handoff, context } = change;
  const { terms, deadline_at } = handoff.accepted;
  const promised_ms = lease.promised_ms ?? context.limits.default_attempt_ms;
  switch (clock) {
    case "ack":
      return terms.ack_ms < context.limits.default_ack_ms;
    case "lease":
      return terms.lease_ms < context.limits.default_lease_ms;
    case "attempt":
      // What another agent left of its time is not the time that this one promised.
      return (
        (terms.attempt_ms ?? promised_ms) < promised_ms ||
        (lease.continued && handoff.holders.some(({ agent }) => agent !== lease.agent))
      );
    case "deadline":
      // However long it was at first: the queue, or an answer, may have taken all of it.
      return deadline_at - lease.delivered_at - waitedMs(change, lease) < promised_ms;
    default:
      throw new Error(`unreachable clock ${JSON.stringify(clock satisfies never)}`);
  }
}

/** For how long the attempt stood still for answers. */
function waitedMs({ handoff, now }: Change, { fence }: Lease): Duration {
  return handoff.questions
    .filter((question) => question.fence === fence)
    .reduce((sum, { asked_at, resolution }) => sum + (resolution?.at ?? now) - asked_at, 0);
}
