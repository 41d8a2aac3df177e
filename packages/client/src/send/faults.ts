/** What can go wrong on the sending side, said to a person: what happened, which value, what to do next. */

import type { HandoffView, Receipt } from "@handfast/protocol/wire";
import { HandfastError, HandoffError, UsageError } from "../errors.ts";

export function usage(message: string, remedy: string): UsageError {
  return new UsageError(message, remedy);
}

/** A child ends before its parent does: with no time left it would be dead on arrival. */
export function noTimeLeft(parent: string): HandoffError {
  return new HandoffError({
    code: 408,
    reason: "deadline_passed",
    message: `Nothing more can be sent for the handoff ${parent}: its deadline has passed.`,
    retryable: false,
    handoff: parent,
  });
}

/** The caller's own limit on a wait is over. */
export function waitOver(what: string, waited_ms: number): HandfastError {
  return new HandfastError(`${what} did not come within ${waited_ms / 1_000} s, the timeout of this wait.`, {
    reason: "wait_over",
    remedy: "The handoff goes on: wait again, follow events(), or cancel().",
    retryable: true,
    anchor: "wait_over",
  });
}

/** It is completed, and the relay no longer has the bytes of its output, or they do not fit into one answer. */
export function outputGone({ id }: HandoffView): HandoffError {
  return new HandoffError({
    code: 404,
    reason: "output_gone",
    message: `The handoff ${id} is completed, but the relay did not give its output.`,
    remedy: "Retention may have dropped it: take results in time, or keep them longer (keep-taken, keep-untaken).",
    handoff: id,
  });
}

export function notProven(id: string, detail: string, remedy: string): HandoffError {
  return new HandoffError({ code: 401, reason: "not_proven", message: detail, remedy, retryable: false, handoff: id });
}

/** A 404 for what this client knows was accepted means something else than one for an id that somebody typed. */
export function explained(error: unknown, id: string, receipt: Receipt | null): unknown {
  if (!(error instanceof HandoffError) || error.reason !== "unknown_handoff") return error;
  return new HandoffError({
    code: error.code,
    reason: error.reason,
    message: receipt === null ? error.message : `The relay accepted the handoff ${id} and no longer knows it.`,
    remedy: receipt === null ? unknownId : forgotten,
    handoff: id,
    problem: error.problem,
    retryable: false,
    cause: error,
  });
}

const unknownId =
  "Check the id, and that this is the relay, the namespace and the agent it was sent with; " +
  "what was taken is dropped after 7 days.";
const forgotten =
  "The relay came back with an empty or older store, this is another relay, or retention dropped it long ago. " +
  "Look at the relay's --data folder; to have the work done, send it again.";

/** Not enough tasks of a scatter succeeded. */
export class ScatterError extends HandfastError {
  /** Why each that failed did so, as they came. */
  readonly errors: readonly HandoffError[];

  constructor(wanted: number, tasks: number, errors: readonly HandoffError[]) {
    const [first] = errors;
    const why = first === undefined ? "there are no more tasks" : `the first failure: ${first.message}`;
    super(`${wanted} of ${tasks} tasks were to succeed, and ${errors.length} failed: ${why}`, {
      reason: "scatter_failed",
      remedy: first?.remedy ?? "Give as many tasks as are to succeed, or more.",
      retryable: errors.some(({ retryable }) => retryable),
      anchor: "scatter_failed",
    });
    this.name = "ScatterError";
    this.errors = errors;
  }
}
