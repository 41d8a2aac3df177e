/** What a worker says came of its work: complete, fail, reject; and what becomes of it when it comes too late. */

import { type Change, refusal } from "./change.ts";
import type { Command, Decision, Refusal } from "./command.ts";
import { nobodyLeft } from "./deliver.ts";
import { charge, end, endByRelay } from "./end.ts";
import { hasEnded, type Lease, type Outcome, type Payload } from "./handoff.ts";
import { ensureAcknowledged, heldLease, isRefusal, refuseEvidence } from "./hold.ts";
import { countedBy } from "./lease.ts";
import { backoff, loseAttempt, recordFailure, requeue } from "./requeue.ts";

type Complete = Extract<Command, { type: "complete" }>;
type Fail = Extract<Command, { type: "fail" }>;
type Reject = Extract<Command, { type: "reject" }>;
type OutcomeCommand = Complete | Fail | Reject;

const endStateOf = { complete: "completed", fail: "failed", reject: "rejected" } as const;

export function complete(change: Change, command: Complete): Decision {
  const held = heldOrLate(change, command);
  if ("events" in held) return held;
  const lease = ensureAcknowledged(change, held, command.evidence);
  if (isRefusal(lease)) return change.refused(lease);
  if (command.fault !== null) return unfit(change, command, lease);
  end(change, "completed", outcomeOf(command, 200, command.output));
  return change.done(lease.fence);
}

/** Output that does not fit is answered with the reason and the lease kept, a few times; then the handoff fails. */
function unfit(change: Change, command: Complete, lease: Lease): Decision {
  const error = command.fault ?? { reason: "output_unfit", message: "the output does not fit its schema" };
  if (lease.unfit_content === command.content) return change.refused(refusal(502, error.reason, error.message));
  const { status } = change.handoff;
  const times = lease.unfit + 1;
  const unfit_beyond = command.beyond_offer === true;
  const { agent, fence } = lease;
  change.emit({ type: "unfit_output", code: 502, agent, fence, error });
  if (times > change.context.limits.max_unfit_outputs) {
    recordFailure(change, lease, 502, error, null);
    endByRelay(change, "failed", 502, error, lease, unfit_beyond ? "beyond_offer" : null);
    return change.refused(refusal(502, error.reason, error.message));
  }
  if (status.state === "working" || status.state === "waiting") {
    change.set({
      status: { ...status, lease: { ...lease, unfit: times, unfit_content: command.content, unfit_beyond } },
    });
  }
  return change.refused(refusal(502, error.reason, error.message));
}

export function fail(change: Change, command: Fail): Decision {
  const held = heldOrLate(change, command);
  if ("events" in held) return held;
  const lease = ensureAcknowledged(change, held, command.evidence);
  if (isRefusal(lease)) return change.refused(lease);
  // The outputs that it could give were refused: that it then says so is no failure of its own.
  const is_excused = lease.unfit_beyond === true && command.error.reason === "output_unfit";
  const excuse = is_excused ? "beyond_offer" : null;
  const endFailed = () => end(change, "failed", outcomeOf(command, 500, command.output), null, excuse);
  if (!command.retryable) {
    recordFailure(change, lease, 500, command.error, command.content);
    endFailed();
    return change.done(lease.fence);
  }
  const delay_ms = Math.max(command.retry_after_ms ?? 0, backoff(change));
  loseAttempt(change, {
    lease,
    why: "failed",
    code: 500,
    error: command.error,
    content: command.content,
    excuse,
    delay_ms,
    end: endFailed,
  });
  if (!hasEnded(change.handoff.status) && command.usage !== null) charge(change, command.usage, command.agent);
  return change.done(lease.fence);
}

export function reject(change: Change, command: Reject): Decision {
  const lease = heldOrLate(change, command);
  if ("events" in lease) return lease;
  const { handoff, now } = change;
  recordFailure(change, lease, 501, command.error, command.content);
  // Whoever takes it next begins an attempt of its own, also where this agent was to go on with an earlier one.
  change.set({
    attempts: handoff.attempts - (lease.continued ? 1 : countedBy(lease)),
    continues_ms: null,
    excluded: [...handoff.excluded, lease.agent],
  });
  if (nobodyLeft(change)) {
    end(change, "rejected", outcomeOf(command, 501, null));
  } else {
    const { error } = command;
    requeue(change, { why: "rejected", code: 501, lease, error, ready_at: now });
    if (command.usage !== null) charge(change, command.usage, command.agent);
  }
  return change.done(lease.fence);
}

/** The live lease of this outcome, or the answer to one that repeats the winner, comes too late, or never had a lease. */
function heldOrLate(change: Change, command: OutcomeCommand): Lease | Decision {
  const no = refuseEvidence(change, command.evidence);
  if (no !== null) return change.refused(no);
  const repeat = repeatsWinner(change, command);
  if (repeat !== null) return repeat;
  const lease = heldLease(change, command);
  if (!isRefusal(lease)) return lease;
  return keepLate(change, command, lease);
}

/** What was said before under this fence, whether it won or only ended an attempt: the same again is answered alike. */
function repeatsWinner(change: Change, command: OutcomeCommand): Decision | null {
  const { status, failures } = change.handoff;
  const before = [
    ...(hasEnded(status) && status.outcome.evidence !== "relay" && status.state !== "canceled" ? [status.outcome] : []),
    ...failures,
  ].find(({ fence, agent, content }) => fence === command.fence && agent === command.agent && content !== null);
  if (before === undefined) return null;
  if (before.content === command.content) return change.done();
  return change.refused(refusal(409, "outcome_conflict", "another outcome was given under this fence"));
}

/** A late outcome changes no state, but it is kept, one per fence, and the sender is told. */
function keepLate(change: Change, command: OutcomeCommand, no: Refusal): Decision {
  const { handoff, now } = change;
  const held = handoff.holders.some((h) => h.fence === command.fence && h.agent === command.agent);
  const known = handoff.late.some((late) => late.outcome.fence === command.fence);
  const is_full = handoff.late.length >= change.context.limits.max_holders_kept;
  if (!held || known || is_full || no.code === 403) return change.refused(no);
  const fault = command.type === "complete" ? command.fault : null;
  const state = fault === null ? endStateOf[command.type] : "failed";
  const code = fault === null ? lateCode[command.type] : 502;
  const said = outcomeOf(command, code, command.type === "reject" ? null : command.output);
  const outcome = fault === null ? said : { ...said, error: fault };
  change.set({ late: [...handoff.late, { at: now, state, outcome }] });
  const { agent, worker, fence, evidence } = command;
  change.emit({ type: "late", state, code, agent, worker, fence, evidence, output: outcome.output });
  if (command.usage !== null) charge(change, command.usage, command.agent);
  return change.refused(no, command.fence);
}

const lateCode = { complete: 200, fail: 500, reject: 501 } as const satisfies Record<OutcomeCommand["type"], number>;

function outcomeOf(command: OutcomeCommand, code: number, output: Payload | null): Outcome {
  return {
    code,
    fence: command.fence,
    agent: command.agent,
    worker: command.worker,
    evidence: command.evidence,
    content: command.content,
    output,
    artifacts: command.artifacts,
    error: command.type === "complete" ? null : command.error,
    usage: command.usage,
  };
}
