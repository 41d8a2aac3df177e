/**
 * Everything that this client throws of its own: what happened (message), its stable name (reason), whether the same
 * again may help (retryable), what to do (remedy), and where more is written (docs).
 */

import { remedyOf, statusCode } from "@handfast/protocol/client";
import type { HandoffView, OutcomeView } from "@handfast/protocol/wire";
import { type Duration, toMilliseconds } from "./duration.ts";

/** A problem as a relay answers it (RFC 9457). */
export interface ProblemDocument {
  readonly code: number;
  readonly reason: string;
  readonly detail: string;
  readonly name?: string;
  readonly title?: string;
  readonly retryable?: boolean;
  readonly [extra: string]: unknown;
}

interface ErrorFacts {
  readonly reason: string;
  readonly remedy: string;
  readonly retryable: boolean;
  readonly anchor: string;
  readonly cause?: unknown;
}

/** The root of every error of the client: catch it to tell them from your own. */
export class HandfastError extends Error {
  /** A stable name of the exact cause, in snake_case. */
  readonly reason: string;
  /** What to do about it. */
  readonly remedy: string;
  /** True: the same again, unchanged, may succeed later. */
  readonly retryable: boolean;
  /** Where it is explained. */
  readonly docs: string;

  constructor(message: string, { reason, remedy, retryable, anchor, cause }: ErrorFacts) {
    super(message, cause === undefined ? {} : { cause });
    this.name = "HandfastError";
    this.reason = reason;
    this.remedy = remedy;
    this.retryable = retryable;
    this.docs = `docs/errors.md#${anchor}`;
  }
}

interface HandoffFacts {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly remedy?: string;
  readonly retryable?: boolean;
  readonly handoff?: string | null;
  readonly problem?: ProblemDocument | null;
  readonly outcome?: OutcomeView;
  readonly cause?: unknown;
}

/** A relay refused a call, or a handoff ended otherwise than completed. `name` is the status code's name. */
export class HandoffError extends HandfastError {
  /** The status code, such as 408. */
  readonly code: number;
  /** The id of the handoff it is about, where it is about one. */
  readonly handoff: string | null;
  /** What the relay answered, where it refused a call. */
  readonly problem: ProblemDocument | null;
  /** How the handoff ended, where it ended. */
  readonly outcome?: OutcomeView;

  constructor(facts: HandoffFacts) {
    const { code, reason, message, handoff = null, problem = null, outcome, cause } = facts;
    const known = remedyOf(code, reason);
    super(message, {
      reason,
      remedy: facts.remedy ?? known.remedy,
      retryable: facts.retryable ?? statusCode(code)?.retryable ?? false,
      anchor: known.anchor,
      cause,
    });
    this.name = statusCode(code)?.name ?? `code_${code}`;
    this.code = code;
    this.handoff = handoff;
    this.problem = problem;
    if (outcome !== undefined) this.outcome = outcome;
  }

  /** From a problem that a relay answered a call with. */
  static from(problem: ProblemDocument, handoff: string | null = null, remedy?: string): HandoffError {
    const { code, reason, detail, retryable } = problem;
    return new HandoffError({
      code,
      reason,
      message: detail,
      handoff,
      problem,
      ...(retryable === undefined ? {} : { retryable }),
      ...(remedy === undefined ? {} : { remedy }),
    });
  }

  /** From a handoff that ended otherwise than completed. */
  static ended(view: HandoffView): HandoffError {
    const { id, state, code, name, retryable, outcome } = view;
    const error = outcome?.error ?? null;
    const why = error?.message ?? statusCode(code)?.title ?? name;
    return new HandoffError({
      code,
      reason: error?.reason ?? name,
      message: `The handoff ${id} ${endings[state] ?? state}${byWhom(outcome)}: ${why}`,
      retryable,
      handoff: id,
      ...(outcome === null ? {} : { outcome }),
    });
  }
}

const endings: Readonly<Record<string, string>> = { rejected: "was rejected", canceled: "was canceled" };

function byWhom(outcome: HandoffView["outcome"]): string {
  return outcome?.agent == null ? "" : ` (${outcome.agent})`;
}

/** No relay answered for as long as the client is patient. */
export class RelayUnreachable extends HandfastError {
  /** Where it was looked for. */
  readonly url: string;

  constructor(url: string, patience_ms: number, cause: unknown) {
    const { anchor, remedy: usual } = remedyOf(0, "relay_unreachable");
    const is_plain = isPlain(cause);
    const why = is_plain ? "it does not speak TLS" : causeText(cause);
    const remedy = is_plain ? "Write http:// in place of https://, or name an address that speaks TLS." : usual;
    super(`No relay answered at ${url} for ${patience_ms / 1_000} s${why === "" ? "" : ` (${why})`}.`, {
      reason: "relay_unreachable",
      remedy,
      retryable: true,
      anchor,
      cause,
    });
    this.name = "RelayUnreachable";
    this.url = url;
  }
}

/** An option or an argument is wrong: nothing was sent. */
export class UsageError extends HandfastError {
  constructor(message: string, remedy: string, reason = "usage", cause?: unknown) {
    const { anchor } = remedyOf(0, reason);
    // What is not explained on its own is explained with all wrong options.
    const place = anchor.startsWith(reason) ? anchor : "usage";
    super(message, { reason, remedy, retryable: false, anchor: place, cause });
    this.name = "UsageError";
  }
}

/** Throw it in a handler: this attempt failed, another may succeed. */
export class Retry extends Error {
  /** The soonest that the next attempt makes sense. */
  readonly after_ms: number | null;

  constructor(message: string, options: { readonly after?: Duration; readonly cause?: unknown } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : {});
    this.name = "Retry";
    this.after_ms = options.after === undefined ? null : toMilliseconds(options.after, "Retry's after");
  }
}

/** Throw it in a handler: the work failed, and no other attempt would do better. */
export class Fail extends Error {
  /** A short stable name for programs. */
  readonly reason: string;
  /** Anything more, as JSON. */
  readonly detail: unknown;

  constructor(
    message: string,
    options: { readonly reason?: string; readonly detail?: unknown; readonly cause?: unknown } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : {});
    this.name = "Fail";
    this.reason = options.reason ?? "failed";
    this.detail = options.detail;
  }
}

/** Throw it in a handler: not for this agent; another one may take it. */
export class Reject extends Error {
  /** A short stable name for programs. */
  readonly reason: string;

  constructor(message: string, options: { readonly reason?: string; readonly cause?: unknown } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : {});
    this.name = "Reject";
    this.reason = options.reason ?? "rejected";
  }
}

/** What answered took the beginning of TLS for nonsense: it speaks plain HTTP, most often. */
function isPlain(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  return ("code" in cause && cause.code === "ERR_SSL_WRONG_VERSION_NUMBER") || isPlain(cause.cause);
}

/** Node's fetch hides what went wrong one or two causes down. */
function causeText(cause: unknown): string {
  if (!(cause instanceof Error)) return cause === undefined ? "" : String(cause);
  const inner = causeText(cause.cause);
  const own = "code" in cause && typeof cause.code === "string" && cause.message === "" ? cause.code : cause.message;
  return inner === "" ? own : inner;
}
