/** Whether a handoff rightly went back to the queue: by a clock, or by what its holder said. */

import type { HandoffEvent } from "@handfast/core";
import type { HeldLease } from "./clock-witness.ts";
import type { History } from "./history.ts";
import { ensure } from "./violation.ts";

type Requeued = Extract<HandoffEvent, { type: "requeued" }>;

export function justifyRequeue(history: History, event: Requeued, lease: HeldLease): void {
  const { clocks, outcomes, excluded } = history;
  const { at, why } = event;
  switch (why) {
    case "unacknowledged":
      history.in("delivered", why);
      clocks.notAcknowledged(lease, at);
      if (!clocks.excuses(lease.delivered_at, at)) history.unacknowledged += 1;
      return;
    case "lease_lost":
      history.in("working", why);
      clocks.leaseRanOut(lease, at);
      if (!clocks.excuses(lease.heard_at, at)) history.lostAttempts += 1;
      return mayTryAgain(history, lease, why);
    case "attempt_timeout":
      history.in("working", why);
      clocks.attemptRanOut(lease, at);
      history.lostAttempts += 1;
      waitsItsTime(history, event, lease);
      return mayTryAgain(history, lease, why);
    case "failed":
      history.acts(event, at);
      history.wasSaid(["fail"], lease);
      outcomes.add(lease.fence);
      history.lostAttempts += 1;
      waitsItsTime(history, event, lease);
      return mayTryAgain(history, lease, why);
    case "rejected":
      history.acts(event, at);
      history.wasSaid(["reject"], lease);
      outcomes.add(lease.fence);
      excluded.add(lease.agent);
      return;
    case "released":
      history.acts(event, at);
      return history.wasSaid(["release"], lease);
    case "answered":
      return;
    default:
      throw new Error(`unreachable reason ${JSON.stringify(why satisfies never)}`);
  }
}

/** At least half of the first backoff, and as long as the worker asked for. */
function waitsItsTime(history: History, { at, ready_at, why }: Requeued, { fence, agent }: HeldLease): void {
  const { accepted, context } = history;
  const { said, scenario } = context;
  const failed = why === "failed" ? said.act("fail", accepted.id, fence, agent) : undefined;
  const asked_ms = failed?.retry_after_ms ?? 0;
  const least = at + Math.max(asked_ms, scenario.coreLimits.backoff_first_ms / 2);
  ensure(ready_at >= least, "a retry waits its time", accepted.id, () => `ready at ${ready_at}, not before ${least}`);
}

function mayTryAgain({ accepted, clocks }: History, lease: HeldLease, why: string): void {
  ensure(!clocks.untilAck(lease), "until_ack: never a second attempt", accepted.id, why);
}
