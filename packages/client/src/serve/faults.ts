/** Why a handler's signal is aborted, and what of an error a handoff's record keeps. */

import { isName, type OutcomeError, protocolLimits, toUtf8 } from "@handfast/protocol";
import { HandfastError, HandoffError } from "../errors.ts";
import type { LeaseOver } from "../link/link.ts";
import { serveLimits as limits } from "./limits.ts";

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
  const kept = keptDetail(detail);
  return {
    reason: isName(reason) ? reason : "failed",
    message: short.toWellFormed(),
    ...(kept === undefined ? {} : { detail: kept }),
  };
}

/** What cannot be written, or is too much, is left out: the failure itself must get through. */
function keptDetail(detail: unknown): unknown {
  if (detail === undefined) return undefined;
  try {
    const text = JSON.stringify(detail);
    return text === undefined || toUtf8(text).length > limits.error_detail_bytes ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message === "" ? error.name : error.message;
  return String(error);
}
