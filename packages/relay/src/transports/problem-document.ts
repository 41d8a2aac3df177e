/** Whatever went wrong, as a problem document (RFC 9457), the same over every transport. */

import { EngineFault, isAway, storeAway } from "@handfast/engine";
import { statusCode } from "@handfast/protocol";
import { Problem } from "../problem.ts";

/** Ours or the caller's: anything else is a mistake of the relay, and says no more than that. */
export function asProblem(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  const fault = isAway(error) ? storeAway() : error;
  if (!(fault instanceof EngineFault)) return null;
  const seconds = Math.max(1, Math.ceil(fault.retry_after_ms / 1_000));
  return new Problem(fault.code, fault.reason, `${fault.message}.`, {}, seconds);
}

export const mistake = new Problem(500, "internal", "The relay made a mistake; it was logged. Try again.");

export interface ProblemDocument {
  readonly status: number;
  readonly document: Readonly<Record<string, unknown>>;
  /** When to come back, where that is known. */
  readonly retry_after_seconds: number | null;
}

export function problemDocument(problem: Problem, status = httpStatus(problem)): ProblemDocument {
  const { code, reason, message, extra } = problem;
  const known = statusCode(code);
  const document = {
    type: `urn:handfast:problem:${reason}`,
    title: problem.title ?? known.title,
    status,
    code,
    name: known.name,
    reason,
    detail: cut(message, most_detail_chars),
    retryable: known.retryable,
    help: `handfast explain ${reason}`,
    ...extra,
    ...namedPlaces(extra),
  };
  return { status, document, retry_after_seconds: problem.retry_after_seconds ?? (code === 429 ? 1 : null) };
}

// A caller's own names may be as long as a body: they are named to it, not sent back to it.
const most_detail_chars = 4_000;
const most_path_chars = 512;

function namedPlaces({ path, fields }: Problem["extra"]): Readonly<Record<string, unknown>> {
  const short = (place: unknown) => (typeof place === "string" ? cut(place, most_path_chars) : place);
  return {
    ...(typeof path === "string" ? { path: short(path) } : {}),
    ...(Array.isArray(fields) ? { fields: fields.map(short) } : {}),
  };
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

/** Nothing can be had of this node for now: whatever stands before several nodes knows by 503 to go to another. */
const unavailable: ReadonlySet<string> = new Set(["commit_unknown", "store_away", "draining"]);

/**
 * The HTTP status tells how the call went: output that does not fit is the caller's doing, not a bad gateway; a store that is
 * away is no mistake of the relay.
 */
function httpStatus({ code, reason }: Problem): number {
  if (unavailable.has(reason)) return 503;
  return code === 502 ? 422 : code;
}
