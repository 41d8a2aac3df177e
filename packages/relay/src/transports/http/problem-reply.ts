/** Whatever went wrong, as a problem document (RFC 9457). */

import { EngineFault } from "@handfast/engine";
import { type StatusCode, statusCode } from "@handfast/protocol";
import { Problem } from "../../problem.ts";

export interface ProblemReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly document: Readonly<Record<string, unknown>>;
}

export const problem_media_type = "application/problem+json";

/** HTTP has a status of its own for it; our code says what it comes to. */
export class HttpProblem extends Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: StatusCode, reason: string, message: string, headers = {}) {
    super(code, reason, message);
    this.status = status;
    this.headers = headers;
  }
}

/** Ours or the caller's: anything else is a mistake of the relay, and says no more than that. */
export function asProblem(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  if (!(error instanceof EngineFault)) return null;
  const seconds = Math.max(1, Math.ceil(error.retry_after_ms / 1_000));
  return new Problem(error.code, error.reason, `${error.message}.`, {}, seconds);
}

export const mistake = new Problem(500, "internal", "The relay made a mistake; it was logged. Try again.");

export function problemReply(problem: Problem): ProblemReply {
  const { code, reason, message, extra, retry_after_seconds } = problem;
  const status = problem instanceof HttpProblem ? problem.status : httpStatus(code);
  const known = statusCode(code);
  const retry_after = retry_after_seconds ?? (code === 429 ? 1 : undefined);
  return {
    status,
    headers: {
      "content-type": problem_media_type,
      "cache-control": "no-store",
      ...(retry_after === undefined ? {} : { "retry-after": String(retry_after) }),
      ...(problem instanceof HttpProblem ? problem.headers : {}),
      ...(code === 401 ? { "www-authenticate": "Bearer" } : {}),
    },
    document: {
      type: `urn:handfast:problem:${reason}`,
      title: problem.title ?? known.title,
      status,
      code,
      name: known.name,
      reason,
      detail: message,
      retryable: known.retryable,
      ...extra,
    },
  };
}

/** The HTTP status tells how the call went: output that does not fit is the caller's doing, not a bad gateway. */
function httpStatus(code: number): number {
  return code === 502 ? 422 : code;
}
