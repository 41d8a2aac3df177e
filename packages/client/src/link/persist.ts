/**
 * Trying again: while the relay is away, or says that waiting helps. Backoff is exponential with full jitter, so that
 * many clients of a relay that comes back do not all come at once. Patience counts from the first failure in a row.
 */

import { type HandoffError, RelayUnreachable } from "../errors.ts";
import type { Surroundings } from "../surroundings.ts";
import { linkLimits } from "./limits.ts";

/** No answer came: the same call may be made again. */
export class NotReached extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = "NotReached";
  }
}

/** A refusal with the relay's own word on when to come back. */
export class ComeBack extends Error {
  readonly refusal: HandoffError;
  readonly after_ms: number;

  constructor(refusal: HandoffError, after_ms: number) {
    super(refusal.message);
    this.refusal = refusal;
    this.after_ms = after_ms;
  }
}

export interface Persistence {
  readonly url: string;
  readonly surroundings: Surroundings;
  readonly patience_ms: number;
  readonly signal?: AbortSignal | undefined;
}

/** Waiting mends none of these, whatever their code says. */
const unmendable: ReadonlySet<string> = new Set(["too_many_questions", "too_many_keys", "too_many_tokens"]);
const passing: ReadonlySet<number> = new Set([429, 500, 503]);

/** Whether the same call, made again in a moment, may go well. */
export function isPassing({ code, retryable, reason }: HandoffError): boolean {
  return retryable && passing.has(code) && !unmendable.has(reason);
}

export async function persist<Value>(persistence: Persistence, attempt: () => Promise<Value>): Promise<Value> {
  const { surroundings, signal } = persistence;
  const failures = new Failures(persistence);
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      await pause(surroundings, failures.pauseAfter(error), signal);
    }
  }
}

/** Failures in a row, of one call. */
export class Failures {
  readonly #persistence: Omit<Persistence, "signal">;
  #count = 0;
  #since = 0;

  constructor(persistence: Omit<Persistence, "signal">) {
    this.#persistence = persistence;
  }

  /** How long to wait before the next try. Throws the last word, where another is of no use or patience is over. */
  pauseAfter(error: unknown): number {
    const { url, surroundings, patience_ms } = this.#persistence;
    const after_ms = retryAfter(error);
    if (after_ms === null) throw error;
    const now = surroundings.now();
    this.#count += 1;
    if (this.#count === 1) this.#since = now;
    const left_ms = this.#since + patience_ms - now;
    if (left_ms <= after_ms) throw lastWord(error, url, patience_ms);
    return Math.min(Math.max(after_ms, backoff(this.#count, surroundings)), left_ms);
  }
}

/** From 0 up to the bound that doubles with each failure, but never nothing. */
export function backoff(failures: number, surroundings: Surroundings): number {
  const { backoff_least_ms, backoff_most_ms } = linkLimits;
  const most = Math.min(backoff_most_ms, backoff_least_ms * 2 ** Math.min(failures, 16));
  return Math.max(10, Math.round(surroundings.random() * most));
}

/** How long one try may take to be answered: no longer than the patience, but long enough to be a try. */
export function answerWithin(patience_ms: number): number {
  return Math.min(linkLimits.answer_ms, Math.max(linkLimits.first_try_ms, patience_ms));
}

/** Null: trying again is no use. */
function retryAfter(error: unknown): number | null {
  if (error instanceof NotReached) return 0;
  return error instanceof ComeBack ? error.after_ms : null;
}

function lastWord(error: unknown, url: string, patience_ms: number): Error {
  if (error instanceof ComeBack) return error.refusal;
  return new RelayUnreachable(url, patience_ms, error);
}

/** Resolves after so long; rejects with the signal's reason. Somebody waits, so the process stays alive for it. */
export function pause(surroundings: Surroundings, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const done = () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    };
    const callOff = surroundings.after(ms, done, true);
    const abort = () => {
      callOff();
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", abort, { once: true });
  });
}
