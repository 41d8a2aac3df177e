/**
 * The five clocks: queue, ack, lease, attempt, deadline; and the time a question may stay open.
 *
 * Time decides, not the timer: every command first settles whatever has run out by now.
 */

import type { Change } from "./change.ts";
import type { Context } from "./command.ts";
import { closeQuestion, endByRelay } from "./end.ts";
import { excuseOf } from "./excuse.ts";
import { type Handoff, hasEnded, type Lease, laneOf, type Question, type Queued, type Time } from "./handoff.ts";
import { heldUntil } from "./held.ts";
import { countedBy } from "./lease.ts";
import { backoff, loseAttempt, loseDelivery } from "./requeue.ts";

export type Timing = Pick<Context, "limits" | "resumed_at">;

/** When time alone would next change this handoff; null: never. */
export function wakeAt(handoff: Handoff, timing: Timing, now: Time): Time | null {
  const { accepted, status } = handoff;
  if (hasEnded(status)) {
    return status.chores.children || status.chores.route ? status.ended_at : prunableAt(handoff, timing);
  }
  return Math.min(accepted.deadline_at, stateClock(handoff, timing, now));
}

function stateClock(handoff: Handoff, timing: Timing, now: Time): Time {
  const { status } = handoff;
  switch (status.state) {
    case "queued":
      if (status.blocked) return Number.POSITIVE_INFINITY;
      if (status.ready_at > now) return status.ready_at;
      return Math.min(
        status.queue_until ?? Number.POSITIVE_INFINITY,
        later(handoff.avoid?.until, now),
        later(handoff.prefer?.until, now),
        later(tiedUntil(handoff, status, timing), now),
      );
    case "delivered":
      return ackUntil(handoff, status.lease, timing);
    case "working":
      return Math.min(leaseUntil(handoff, status.lease, timing), attemptUntil(handoff, status.lease, timing));
    case "waiting": {
      const held = status.lease === null ? Number.POSITIVE_INFINITY : leaseUntil(handoff, status.lease, timing);
      return Math.min(held, openQuestion(handoff)?.answer_by ?? Number.POSITIVE_INFINITY);
    }
    default:
      return Number.POSITIVE_INFINITY;
  }
}

/** Until when it may be held back for an agent, as far as the handoff itself says so. */
function tiedUntil({ accepted }: Handoff, status: Queued, { limits }: Timing): Time | undefined {
  const { to, conversation_id, canary, deadline_at } = accepted;
  const is_tied = laneOf(accepted) !== null || conversation_id !== null || canary !== undefined;
  return to === null && is_tied ? heldUntil({ ...status, deadline_at }, limits.sticky_ms) : undefined;
}

function later(time: Time | undefined, now: Time): Time {
  return time !== undefined && time > now ? time : Number.POSITIVE_INFINITY;
}

function ackUntil({ accepted }: Handoff, lease: Lease, { resumed_at }: Timing): Time {
  const { ack_ms, lease_ms } = accepted.terms;
  const until = lease.delivered_at + ack_ms;
  return lease.delivered_at < resumed_at ? Math.max(until, resumed_at + Math.max(ack_ms, lease_ms)) : until;
}

function leaseUntil(handoff: Handoff, lease: Lease, timing: Timing): Time {
  return Math.max(lease.beat_at, timing.resumed_at) + handoff.accepted.terms.lease_ms;
}

/** A relay that was away gives the attempt of a lease from before, too, one full lease period to be heard of. */
function attemptUntil({ accepted }: Handoff, lease: Lease, { resumed_at }: Timing): Time {
  const { attempt_until, delivered_at } = lease;
  if (attempt_until === null) return Number.POSITIVE_INFINITY;
  return delivered_at < resumed_at ? Math.max(attempt_until, resumed_at + accepted.terms.lease_ms) : attempt_until;
}

/** When retention may drop an ended handoff. */
export function prunableAt(handoff: Handoff, timing: Timing): Time | null {
  const { status } = handoff;
  if (!hasEnded(status)) return null;
  const { keep_taken_ms, keep_untaken_ms } = timing.limits;
  const { ended_at, taken_at, dead_letter } = status;
  if (taken_at === null || dead_letter?.status === "open") return ended_at + Math.max(keep_untaken_ms, keep_taken_ms);
  // Counted from the last act, so that repeating it is still answered for a while.
  return Math.max(taken_at, dead_letter?.at ?? taken_at) + keep_taken_ms;
}

export function openQuestion(handoff: Handoff): Question | undefined {
  const { status } = handoff;
  return status.state === "waiting" ? handoff.questions.find((q) => q.id === status.question) : undefined;
}

/** Applies every clock that has run out by now. Each step moves towards an end, so this ends too. */
export function settle(change: Change): void {
  while (settleOne(change));
}

function settleOne(change: Change): boolean {
  const { handoff, now, context } = change;
  const { accepted, status } = handoff;
  if (hasEnded(status)) return false;
  if (now >= accepted.deadline_at) {
    const lease = status.state === "queued" ? null : status.lease;
    const error = { reason: "deadline_passed", message: `the deadline passed while the handoff was ${status.state}` };
    endByRelay(change, "expired", 408, error, lease, excuseOf(change, lease, "deadline"));
    return true;
  }
  switch (status.state) {
    case "queued":
      if (status.blocked || status.queue_until === null || now < status.queue_until) return false;
      endByRelay(
        change,
        "expired",
        503,
        { reason: "queue_timeout", message: "no capable agent took it in time" },
        null,
      );
      return true;
    case "delivered":
      if (now < ackUntil(handoff, status.lease, context)) return false;
      loseDelivery(change, status.lease);
      return true;
    case "working":
      return settleWork(change, status.lease);
    case "waiting":
      return settleWaiting(change, status.lease);
    default:
      throw new Error(`unreachable state ${JSON.stringify(status satisfies never)}`);
  }
}

/** Of two clocks that have both run out, the one that ran out first decides: time decides, not the timer. */
function settleWork(change: Change, lease: Lease): boolean {
  const { handoff, now, context } = change;
  const lostAt = leaseUntil(handoff, lease, context);
  const overAt = attemptUntil(handoff, lease, context);
  if (now >= lostAt && lostAt <= overAt) {
    const error = {
      reason: "agent_lost",
      message: `worker ${lease.worker} of agent ${lease.agent} was not heard of in time`,
    };
    // Not heard of since the relay itself came back: the relay's absence is not held against the handoff.
    if (lease.beat_at < context.resumed_at) change.set({ attempts: handoff.attempts - countedBy(lease) });
    const excuse = excuseOf(change, lease, "lease");
    loseAttempt(change, {
      lease,
      why: "lease_lost",
      code: 521,
      error,
      content: null,
      excuse,
      delay_ms: 0,
      end: () => endByRelay(change, "failed", 521, error, lease, excuse),
    });
    return true;
  }
  if (now >= overAt) {
    const error = {
      reason: "attempt_timeout",
      message: `worker ${lease.worker} of agent ${lease.agent} ran past the attempt's time limit`,
    };
    const excuse = excuseOf(change, lease, "attempt");
    loseAttempt(change, {
      lease,
      why: "attempt_timeout",
      code: 500,
      error,
      content: null,
      excuse,
      delay_ms: backoff(change),
      end: () => endByRelay(change, "failed", 500, error, lease, excuse),
    });
    return true;
  }
  return false;
}

function settleWaiting(change: Change, lease: Lease | null): boolean {
  const { handoff, now, context } = change;
  const question = openQuestion(handoff);
  if (question === undefined) throw new Error(`handoff ${handoff.accepted.id} waits for a question it does not have`);
  const lostAt = lease === null ? Number.POSITIVE_INFINITY : leaseUntil(handoff, lease, context);
  if (lease !== null && now >= lostAt && lostAt <= question.answer_by) {
    loseHolder(change, question, lease);
    return true;
  }
  if (now < question.answer_by) return false;
  resolveUnanswered(change, question, lease);
  return true;
}

function resolveUnanswered(change: Change, question: Question, lease: Lease | null): void {
  const error = { reason: "question_unanswered", message: `question ${question.id} was not answered in time` };
  change.emit({ type: "unanswered", question: question.id });
  if (lease === null) return endByRelay(change, "failed", 408, error, null);
  closeQuestion(change);
  change.set({ status: { state: "working", lease: resumeAttempt(lease, change.now) } });
}

/** The attempt clock stood still while the handoff was waiting. */
export function resumeAttempt(lease: Lease, now: Time): Lease {
  return { ...lease, attempt_until: now + lease.attempt_left_ms };
}

/** The worker that asked is gone: the question stays open for whoever takes the handoff after the answer. */
function loseHolder(change: Change, question: Question, lease: Lease): void {
  if (lease.until_ack) {
    const error = {
      reason: "agent_lost",
      message: `worker ${lease.worker} of agent ${lease.agent} was lost while waiting`,
    };
    return endByRelay(change, "failed", 521, error, lease, excuseOf(change, lease, "lease"));
  }
  change.set({
    status: { state: "waiting", question: question.id, lease: null },
    continues_ms: lease.attempt_left_ms,
  });
  change.emit({ type: "parked", agent: lease.agent, fence: lease.fence, question: question.id });
}
