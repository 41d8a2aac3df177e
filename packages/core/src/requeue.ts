/** Back to the queue: after a lost or failed attempt, a release, a rejection, an answer. */

import type { Change } from "./change.ts";
import { closeQuestion, endByRelay } from "./end.ts";
import type { RequeueReason } from "./event.ts";
import { type AttemptExcuse, excuseOf } from "./excuse.ts";
import type { Duration, Handoff, HandoffError, Lease, Time } from "./handoff.ts";

interface Requeue {
  readonly why: RequeueReason;
  readonly code: number | null;
  readonly lease: Lease | null;
  readonly error: HandoffError | null;
  readonly ready_at: Time;
  readonly excuse?: AttemptExcuse | null;
  readonly patch?: Partial<Handoff>;
}

export function requeue(change: Change, { why, code, lease, error, ready_at, excuse = null, patch }: Requeue): void {
  closeQuestion(change);
  const { handoff } = change;
  change.set({
    ...patch,
    status: { state: "queued", ready_at, queue_until: ready_at + handoff.accepted.terms.queue_ms, blocked: false },
    progress: null,
  });
  change.emit({
    type: "requeued",
    why,
    code,
    agent: lease?.agent ?? null,
    worker: lease?.worker ?? null,
    fence: handoff.fence,
    ready_at,
    error,
    ...(excuse === null ? {} : { excuse }),
  });
}

interface LostAttempt {
  readonly lease: Lease;
  readonly why: "lease_lost" | "attempt_timeout" | "failed";
  readonly code: number;
  readonly error: HandoffError;
  /** Digest of what the worker said; null where it said nothing. */
  readonly content: string | null;
  readonly excuse: AttemptExcuse | null;
  readonly delay_ms: Duration;
  /** Ends the handoff as failed; the caller knows better than the relay what the outcome is. */
  readonly end: () => void;
}

/** An attempt came to nothing: another one, if one is left and could still start before the deadline. */
export function loseAttempt(change: Change, lost: LostAttempt): void {
  const { lease, why, code, error, excuse } = lost;
  const { accepted, attempts } = change.handoff;
  recordFailure(change, lease, code, error, lost.content);
  const ready_at = change.now + lost.delay_ms;
  const again = !lease.until_ack && attempts < accepted.terms.max_attempts && ready_at < accepted.deadline_at;
  if (!again) return lost.end();
  // What a lost worker was about another of the same agent can do; what an agent failed at, rather another agent.
  const avoid = avoidance(change, lease, ready_at, why === "lease_lost" ? lease.worker : null);
  requeue(change, { why, code, lease, error, ready_at, excuse, patch: { avoid } });
}

/** Grows with each attempt; the jitter keeps many that failed together from coming back together. */
export function backoff(change: Change): Duration {
  const { limits, random } = change.context;
  const doubled = limits.backoff_first_ms * 2 ** Math.min(change.handoff.attempts - 1, 20);
  return Math.round(Math.min(limits.backoff_most_ms, doubled) * (0.5 + random / 2));
}

function avoidance(change: Change, { agent }: Lease, ready_at: Time, worker: string | null): Handoff["avoid"] {
  return { agent, worker, until: ready_at + change.context.limits.preference_ms };
}

export function recordFailure(
  change: Change,
  lease: Lease,
  code: number,
  error: HandoffError,
  content: string | null,
): void {
  const failure = {
    content,
    fence: lease.fence,
    agent: lease.agent,
    worker: lease.worker,
    at: change.now,
    code,
    error,
  };
  const kept = [...change.handoff.failures, failure].slice(-change.context.limits.max_failures_kept);
  change.set({ failures: kept });
}

/** A delivery was never acknowledged: not an attempt, but bounded all the same. */
export function loseDelivery(change: Change, lease: Lease): void {
  const { handoff, now } = change;
  // A relay that crashed or stalled after the delivery may have lost it on the way: that counts for nothing.
  const deliveries = handoff.deliveries + (lease.delivered_at < change.context.resumed_at ? 0 : 1);
  const error = {
    reason: "not_acknowledged",
    message: `worker ${lease.worker} of agent ${lease.agent} did not acknowledge in time`,
  };
  recordFailure(change, lease, 504, error, null);
  change.set({ deliveries });
  const excuse = excuseOf(change, lease, "ack");
  if (deliveries >= handoff.accepted.terms.max_deliveries) {
    return endByRelay(change, "failed", 504, error, lease, excuse);
  }
  requeue(change, {
    why: "unacknowledged",
    code: 504,
    lease,
    error,
    ready_at: now,
    excuse,
    patch: { avoid: avoidance(change, lease, now, lease.worker) },
  });
}
