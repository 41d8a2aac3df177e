/** What a caller is told when the relay refuses: our status code, a reason for programs, a sentence for people. */

import type { StatusCode } from "@handfast/protocol";

export class Problem extends Error {
  /** Also the HTTP status of the answer. */
  readonly code: StatusCode;
  /** Snake case, stable: what a program may branch on. */
  readonly reason: string;
  /** Further members of the problem document, such as `path`. */
  readonly extra: Readonly<Record<string, unknown>>;
  readonly retry_after_seconds?: number;

  /** The message says what happened, which value, and what to do next. */
  constructor(
    code: StatusCode,
    reason: string,
    message: string,
    extra: Readonly<Record<string, unknown>> = {},
    retry_after_seconds?: number,
  ) {
    super(message);
    this.name = "Problem";
    this.code = code;
    this.reason = reason;
    this.extra = extra;
    if (retry_after_seconds !== undefined) this.retry_after_seconds = retry_after_seconds;
  }
}
