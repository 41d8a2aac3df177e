/** What the holder of a lease does while it works: acknowledge, beat, checkpoint, release. */

import { type Change, refusal } from "./change.ts";
import type { Command, Decision, Holder, Refusal } from "./command.ts";
import { end } from "./end.ts";
import { type Evidence, hasEnded, type Lease, liveLease } from "./handoff.ts";
import { countedBy } from "./lease.ts";
import { requeue } from "./requeue.ts";

/** The live lease that the caller holds, or why it holds none. */
export function heldLease(change: Change, { agent, fence }: Holder): Lease | Refusal {
  const { handoff } = change;
  const { status, accepted } = handoff;
  const lease = liveLease(handoff);
  if (lease !== null && lease.fence === fence) {
    return lease.agent === agent
      ? lease
      : refusal(403, "foreign_lease", `handoff ${accepted.id} is held by another agent`);
  }
  const held = handoff.holders.find((holder) => holder.fence === fence);
  if (held !== undefined && held.agent !== agent) {
    return refusal(403, "foreign_lease", `handoff ${accepted.id} under fence ${fence} was held by another agent`);
  }
  if (hasEnded(status) && fence === handoff.fence) {
    if (status.state === "canceled") return refusal(410, "canceled", `handoff ${accepted.id} was canceled`);
    if (status.state === "expired") return refusal(408, "deadline_passed", `handoff ${accepted.id} has expired`);
  }
  return refusal(412, "lease_lost", `fence ${fence} of handoff ${accepted.id} is over; stop this work`);
}

export function isRefusal(value: Lease | Refusal): value is Refusal {
  return "reason" in value;
}

export function ack(change: Change, command: Extract<Command, { type: "ack" }>): Decision {
  const { handoff } = change;
  const { status } = handoff;
  // A notice ends with its ack, and an outcome may have implied one: the same ack again is answered as the first time.
  if (hasEnded(status) && status.outcome.fence === command.fence && status.outcome.agent === command.agent) {
    if (status.state !== "canceled" && status.outcome.evidence !== "relay") return change.done();
  }
  const lease = heldLease(change, command);
  if (isRefusal(lease)) return change.refused(lease);
  const notice = handoff.accepted.kind === "notice";
  if (lease.acknowledged_at !== null && !notice) return change.done();
  const no =
    lease.acknowledged_at === null
      ? acknowledge(change, lease, command.evidence)
      : refuseEvidence(change, command.evidence);
  if (no !== null) return change.refused(no);
  if (notice) {
    end(change, "completed", {
      code: 200,
      fence: lease.fence,
      agent: lease.agent,
      worker: lease.worker,
      evidence: command.evidence,
      content: "acknowledged",
      output: null,
      artifacts: [],
      error: null,
      usage: null,
    });
  }
  return change.done(lease.fence);
}

export function refuseEvidence({ handoff }: Change, evidence: Evidence): Refusal | null {
  if (handoff.accepted.demands === "any" || evidence === "signed") return null;
  return refusal(401, "signature_demanded", "the sender demands signed acknowledgements and outcomes");
}

/** "I have it and I take it." Counts the attempt, unless this one goes on with an attempt already counted. */
function acknowledge(change: Change, lease: Lease, evidence: Evidence): Refusal | null {
  const no = refuseEvidence(change, evidence);
  if (no !== null) return no;
  const { handoff, now } = change;
  const attempts = lease.continued ? handoff.attempts : handoff.attempts + 1;
  const acknowledged = { ...lease, acknowledged_at: now, beat_at: now, attempt_until: now + lease.attempt_left_ms };
  change.set({ attempts, continues_ms: null, avoid: null, status: { state: "working", lease: acknowledged } });
  change.emit({
    type: "acknowledged",
    code: 211,
    agent: lease.agent,
    worker: lease.worker,
    fence: lease.fence,
    attempt: attempts,
    evidence,
  });
  return null;
}

/** A notice is over once it is acknowledged: there is no work on it to keep the state of, or to ask about. */
export function refuseNotice({ handoff: { accepted } }: Change): Refusal | null {
  if (accepted.kind !== "notice") return null;
  return refusal(409, "notice", `${accepted.id} is a notice: acknowledge it, nothing more is asked`);
}

/** Acks on the way where a worker's next act came without one. */
export function ensureAcknowledged(change: Change, lease: Lease, evidence: Evidence): Lease | Refusal {
  if (lease.acknowledged_at !== null) return lease;
  const no = acknowledge(change, lease, evidence);
  if (no !== null) return no;
  const taken = liveLease(change.handoff);
  if (taken === null) throw new Error(`handoff ${change.handoff.accepted.id} lost its lease by acknowledging it`);
  return taken;
}

export function beat(change: Change, command: Extract<Command, { type: "beat" }>): Decision {
  const lease = heldLease(change, command);
  if (isRefusal(lease)) return change.refused(lease);
  const { handoff, now } = change;
  const { status } = handoff;
  if (status.state !== "delivered" && status.state !== "working" && status.state !== "waiting") {
    throw new Error(`a lease in state ${status.state}`);
  }
  change.set({
    status: { ...status, lease: { ...lease, beat_at: now } },
    progress: command.progress === null ? handoff.progress : { ...command.progress, at: now },
  });
  return change.remembered();
}

export function checkpoint(change: Change, command: Extract<Command, { type: "checkpoint" }>): Decision {
  const held = heldLease(change, command);
  if (isRefusal(held)) return change.refused(held);
  const no = refuseNotice(change);
  if (no !== null) return change.refused(no);
  const lease = ensureAcknowledged(change, held, "attested");
  if (isRefusal(lease)) return change.refused(lease);
  const number = (change.handoff.checkpoint?.number ?? 0) + 1;
  change.set({ checkpoint: { fence: lease.fence, number } });
  change.emit({ type: "checkpointed", agent: lease.agent, fence: lease.fence, number, state: command.state });
  return change.done(number);
}

/** The worker shuts down and gives it back: no attempt counted. */
export function release(change: Change, command: Extract<Command, { type: "release" }>): Decision {
  const lease = heldLease(change, command);
  if (isRefusal(lease)) return change.refused(lease);
  const { handoff, now } = change;
  const attempts = handoff.attempts - countedBy(lease);
  if (handoff.status.state === "waiting") {
    const { question } = handoff.status;
    change.set({ status: { state: "waiting", question, lease: null }, continues_ms: lease.attempt_left_ms });
    change.emit({ type: "parked", agent: lease.agent, fence: lease.fence, question });
    return change.done();
  }
  requeue(change, { why: "released", code: null, lease, error: null, ready_at: now, patch: { attempts } });
  return change.done();
}
