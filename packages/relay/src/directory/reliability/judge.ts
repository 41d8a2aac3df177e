/**
 * What an event says of the agent's reliability. An attempt counts once, at its end: completed, or come to nothing by what the
 * agent did or left undone. What the sender did (cancel, input that does not fit, a clock shorter than what the agent promised),
 * what the agent said openly before it took the work (reject) or when it had to go (release), and what the relay's own absence
 * may have cost, never counts; nor does what an agent handed to itself.
 */

import type { HandoffEvent, Time } from "@handfast/core";
import type { Attempt } from "./attempt.ts";

export type Judged = "success" | "failure";

/** The reason by which clients tell that the input was at fault. */
const input_unfit = "input_unfit";
const output_unfit_code = 502;

/** `attempt`: what is known of the lease that the event is about. `resumed_at`: since when the relay has been there. */
export function judge(event: HandoffEvent, attempt: Attempt | undefined, resumed_at: Time): Judged | null {
  if ("excuse" in event) return null;
  // Work that an agent gives itself is no witness of anything.
  if ("agent" in event && event.agent === event.from) return null;
  switch (event.type) {
    case "completed":
      return event.agent === null ? null : "success";
    case "requeued":
      switch (event.why) {
        case "failed":
          return event.error?.reason === input_unfit ? null : "failure";
        case "lease_lost":
        case "attempt_timeout":
        case "unacknowledged":
          return byClock(attempt, event.fence, resumed_at);
        default:
          return null;
      }
    case "failed":
      if (event.agent === null) return null;
      if (event.evidence !== "relay") return event.error?.reason === input_unfit ? null : "failure";
      // It had its chances, and said so much itself.
      if (event.code === output_unfit_code) return "failure";
      return byClock(attempt, event.fence, resumed_at);
    case "expired":
      // Not where it waited for an answer, or had not taken the work yet.
      if (attempt === undefined || attempt.acknowledged_at === null || attempt.waiting_since !== null) return null;
      return byClock(attempt, event.fence, resumed_at);
    default:
      return null;
  }
}

/**
 * A clock ran out. The worker may have spoken while the relay was away; of a lease from before, events do not tell whether it
 * was heard of since. So it is not held against it.
 */
function byClock(attempt: Attempt | undefined, fence: number | null, resumed_at: Time): Judged | null {
  return attempt !== undefined && attempt.fence === fence && attempt.delivered_at >= resumed_at ? "failure" : null;
}
