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

/** Of a node that takes no new work, as docs/cluster.md tells. */
export function draining(): Problem {
  const detail = "This node takes no new work; call the relay again, and another node answers. Leases are kept.";
  return new Problem(429, "draining", detail, {}, 1);
}

/** Reasons whose code means something else to a handoff than to the call that met them. */
const titles: ReadonlyMap<string, string> = new Map([
  ["already_proposed", "The call has another answer."],
  ["already_answered", "The question has another answer."],
  ["answer_unfit", "The answer does not fit the schema."],
  ["question_unanswerable", "No answer fits the schema."],
  ["backup_elsewhere", "The store is backed up by tools of its own."],
  ["body_timeout", "The request did not arrive in time."],
  ["busy", "The relay is busy."],
  ["changed_meanwhile", "The record was changed meanwhile."],
  ["commit_unknown", "The relay failed."],
  ["contract_breached", "The contract was broken too often."],
  ["contract_ended", "The contract was ended."],
  ["contract_expired", "The contract is past its validity."],
  ["conflict", "What the call was about kept changing."],
  ["cursor_too_old", "The cursor is too old."],
  ["digest_differs", "The bytes are not those that the digest names."],
  ["discarded", "The dead letter was discarded."],
  ["draining", "The node takes no new work."],
  ["exists", "The file exists already."],
  ["id_taken", "The id is taken."],
  ["import_address", "The address is not one to import from."],
  ["import_key_changed", "The agent has another key than before."],
  ["import_older", "The manifest is older than the one that is known."],
  ["import_too_large", "What was fetched is too large."],
  ["imports_full", "No more agents can be imported."],
  ["internal", "The relay failed."],
  ["manifest_differs", "The version is in force with other content."],
  ["manifest_older", "A newer manifest is in force."],
  ["not_among_several", "The relay is alone with its store."],
  ["not_dead", "The handoff is not a dead letter."],
  ["not_ended", "The handoff has not ended."],
  ["not_ready", "The handoff is not ready."],
  ["notice", "A notice asks for no more than an acknowledgement."],
  ["offer_expired", "The offer has expired."],
  ["offer_stale", "What was offered has changed."],
  ["outcome_conflict", "Another outcome was given."],
  ["provider_gone", "Whoever made the offer is gone."],
  ["proposal_too_late", "The call was to be answered earlier."],
  ["question_closed", "The question is closed."],
  ["question_open", "A question is open already."],
  ["question_taken", "The question was asked before."],
  ["redriven", "The dead letter was redriven."],
  ["request_timeout", "The request did not arrive in time."],
  ["stopping", "The relay is stopping."],
  ["store_away", "The relay cannot reach its database."],
  ["unknown_contract", "There is no such contract of the caller's."],
]);
