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
  /** In place of the code's own title, where that speaks of the handoff and this problem is about the call. */
  readonly title?: string;

  /** The message says what happened, which value, and what to do next. */
  constructor(
    code: StatusCode,
    reason: string,
    message: string,
    extra: Readonly<Record<string, unknown>> = {},
    retry_after_seconds?: number,
    title: string | undefined = titles.get(reason),
  ) {
    super(message);
    this.name = "Problem";
    this.code = code;
    this.reason = reason;
    this.extra = extra;
    if (retry_after_seconds !== undefined) this.retry_after_seconds = retry_after_seconds;
    if (title !== undefined) this.title = title;
  }
}

/** Reasons whose code means something else to a handoff than to the call that met them. */
const titles: ReadonlyMap<string, string> = new Map([
  ["already_answered", "The question has another answer."],
  ["answer_unfit", "The answer does not fit the schema."],
  ["body_timeout", "The request did not arrive in time."],
  ["busy", "The relay is busy."],
  ["changed_meanwhile", "The record was changed meanwhile."],
  ["commit_unknown", "The relay failed."],
  ["conflict", "What the call was about kept changing."],
  ["cursor_too_old", "The cursor is too old."],
  ["digest_differs", "The bytes are not those that the digest names."],
  ["discarded", "The dead letter was discarded."],
  ["exists", "The file exists already."],
  ["id_taken", "The id is taken."],
  ["internal", "The relay failed."],
  ["not_dead", "The handoff is not a dead letter."],
  ["not_ended", "The handoff has not ended."],
  ["not_ready", "The handoff is not ready."],
  ["notice", "A notice asks for no more than an acknowledgement."],
  ["outcome_conflict", "Another outcome was given."],
  ["question_closed", "The question is closed."],
  ["question_open", "A question is open already."],
  ["question_taken", "The question was asked before."],
  ["redriven", "The dead letter was redriven."],
  ["request_timeout", "The request did not arrive in time."],
  ["stopping", "The relay is stopping."],
]);
