/** Why a handler's signal is aborted, and what of an error a handoff's record keeps. */

import type { OutcomeError } from "@handfast/protocol";
import { isName, protocolLimits } from "@handfast/protocol/client";
import { HandfastError, HandoffError } from "../errors.ts";
import type { LeaseOver } from "../link/link.ts";
import { strictDetail } from "./strict-detail.ts";

/** A lease that ended otherwise than by its worker: canceled (410), expired (408), lost (412). */
export function leaseOver({ id, code, reason, detail }: LeaseOver): HandoffError {
  return new HandoffError({ code, reason, message: detail, handoff: id });
}

/** The worker stops: what is not done within the grace goes back to the queue. */
export function stopping(handoff: string): HandfastError {
  return new HandfastError(`The worker stops: handoff ${handoff} is given back unless it ends now.`, {
    reason: "worker_stopping",
    remedy: "Keep a checkpoint and return; the next attempt goes on from it.",
    retryable: true,
    anchor: "worker_stopping",
  });
}

/** The handler asked and does not wait: it is run again, from its start, with the answer. */
export class Parked extends Error {
  constructor(question: string) {
    super(`Question ${question} is parked. The handler ends here and is run again once it is answered.`);
    this.name = "Parked";
  }
}

/** As the wire takes it: bounded, and only what JSON can hold. */
export function outcomeError(reason: string, message: string, detail?: unknown): OutcomeError {
  const text = message.toWellFormed();
  const short =
    text.length > protocolLimits.message_chars ? `${text.slice(0, protocolLimits.message_chars - 1)}…` : text;
  const kept = strictDetail(detail);
  return {
    reason: typeof reason === "string" && isName(reason) ? reason : "failed",
    message: short.toWellFormed(),
    ...(kept === undefined ? {} : { detail: kept }),
  };
}

/** Of whatever was thrown: handlers throw what they like, also what cannot be made a string. */
export function messageOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return textOf(error);
    return error.message === "" ? textOf(error.name) : textOf(error.message);
  } catch {
    return "something was thrown that cannot be shown";
  }
}

/** With the place it came from, for the people here. */
export function storyOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error && typeof thrown.stack === "string") return thrown.stack;
  } catch {
    // As for its message.
  }
  return messageOf(thrown);
}

function textOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const own = String(value);
  return own === "[object Object]" ? (JSON.stringify(strictDetail(value)) ?? own) : own;
}
