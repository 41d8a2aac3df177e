/**
 * Whether an end was justified: by what its holder said, by a clock that ran its whole time, by a limit that was reached.
 * A dead letter that nothing explains is a violation, as much as a lost handoff.
 */

import type { Duration, HandoffEvent, Time } from "@handfast/core";
import type { HeldLease } from "./clock-witness.ts";
import type { History } from "./history.ts";
import type { Invariant } from "./invariants.ts";
import { ensure } from "./violation.ts";

export type EndEvent = Extract<HandoffEvent, { type: "completed" | "failed" | "rejected" | "canceled" | "expired" }>;

export function justifyEnd(history: History, event: EndEvent): void {
  const { accepted, context } = history;
  const { id, from, terms, causation } = accepted;
  const { code, at } = event;
  switch (event.type) {
    case "completed": {
      history.holds(event);
      return history.wasSaid(accepted.kind === "notice" ? ["ack", "complete"] : ["complete"], event);
    }
    case "canceled": {
      const byParent = causation !== null && context.hasEnded(causation.id) && !accepted.detached;
      const asked = context.said.any(["cancel"], id, null, event.by ?? "");
      const mayAsk = event.by === from || event.by?.startsWith("operator:") === true;
      return check(
        history,
        (asked && mayAsk) || (event.by === "relay" && byParent),
        "canceled only when asked",
        () => `by ${event.by}`,
      );
    }
    case "expired":
      if (code === 408) {
        check(history, at >= accepted.deadline_at, "408 only at the deadline", () => `at ${at}`);
        return;
      }
      history.in("queued", "503");
      check(history, code === 503 && !history.blocked, "503 only for what is ready", () => `code ${code}`);
      return check(
        history,
        at >= history.ready_at + terms.queue_ms,
        "503 only after the queue clock",
        () => `at ${at}`,
      );
    case "rejected": {
      const by = event.agent ?? "";
      if (event.evidence !== "relay") {
        history.holds(event);
        history.wasSaid(["reject"], event);
        history.excluded.add(by);
      }
      const left = context.directory.others({ accepted, excluded: [...history.excluded] });
      return check(history, code === 501 && left === 0, "501 only when nobody is left", () => `${left} after ${by}`);
    }
    case "failed":
      return justifyFailed(history, event);
    default:
      throw new Error(`unreachable end ${JSON.stringify(event.type satisfies never)}`);
  }
}

const failedCodes: readonly number[] = [408, 500, 502, 504, 521];

function justifyFailed(history: History, event: EndEvent): void {
  const { at, code } = event;
  check(history, failedCodes.includes(code), "codes are of the table", () => `failed with ${code}`);
  const { clocks, accepted, context } = history;
  if (code === 408) {
    history.in("waiting", "408 of a question");
    const due = history.question?.answer_by ?? Number.POSITIVE_INFINITY;
    return check(
      history,
      history.lease === null && at >= due,
      "a parked question fails only unanswered",
      () => `at ${at}, to be answered until ${due}`,
    );
  }
  const lease = history.live("failed");
  check(history, event.fence === lease.fence, "a stale fence changes nothing", () => `failed under ${event.fence}`);
  switch (code) {
    case 504: {
      history.in("delivered", "504");
      clocks.notAcknowledged(lease, at);
      const counted = history.unacknowledged + (clocks.excuses(lease.delivered_at, at) ? 0 : 1);
      const { max_deliveries } = accepted.terms;
      return check(
        history,
        counted >= max_deliveries,
        "504 only after enough unacknowledged deliveries",
        () => `after ${counted} of ${max_deliveries}`,
      );
    }
    case 521:
      clocks.leaseRanOut(lease, at);
      return noAttemptLeft(history, lease, at, 0, clocks.excuses(lease.heard_at, at));
    case 502: {
      const { max_unfit_outputs } = context.scenario.coreLimits;
      return check(
        history,
        lease.unfit > max_unfit_outputs,
        "502 only after unfit outputs",
        () => `after ${lease.unfit} of ${max_unfit_outputs}`,
      );
    }
    default:
      return justifyFailure(history, event, lease);
  }
}

function justifyFailure(history: History, event: EndEvent, lease: HeldLease): void {
  const { clocks, context, accepted } = history;
  const longest = context.scenario.coreLimits.backoff_most_ms;
  if (event.evidence === "relay") {
    clocks.attemptRanOut(lease, event.at);
    return noAttemptLeft(history, lease, event.at, longest, false);
  }
  history.wasSaid(["fail"], event);
  history.outcomes.add(lease.fence);
  const said = context.said.act("fail", accepted.id, lease.fence, lease.agent);
  if (said?.retryable === true) noAttemptLeft(history, lease, event.at, longest, false);
}

/** `delay_ms`: the longest pause before another attempt could have begun. */
function noAttemptLeft(history: History, lease: HeldLease, at: Time, delay_ms: Duration, excused: boolean): void {
  const { accepted, clocks, lostAttempts } = history;
  const { max_attempts } = accepted.terms;
  const lost = lostAttempts + (excused ? 0 : 1);
  const tooLate = delay_ms > 0 && at + delay_ms >= accepted.deadline_at;
  check(
    history,
    lost >= max_attempts || tooLate || clocks.untilAck(lease),
    "no dead letter while an attempt is left",
    () => `${lost} of ${max_attempts} attempts were lost`,
  );
}

function check(history: History, holds: boolean, invariant: Invariant, message: () => string): void {
  ensure(holds, invariant, history.accepted.id, message);
}
