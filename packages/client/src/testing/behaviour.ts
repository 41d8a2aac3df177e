/** How a fake behaves: always the same, or in each attempt its own way. */

import type { Duration } from "../duration.ts";
import { Fail, Reject, Retry, UsageError } from "../errors.ts";
import type { Context } from "../serve/mod.ts";

/** A step of a script, or what a handler returns: the worker's process dies here and now, without a word. */
export const crash: unique symbol = Symbol("crash");

/** What a fake does with a handoff. It may throw, never return, or return `crash`. */
export type FakeHandler = (input: never, ctx: Context) => unknown;

/** What happens in one attempt: a handler, `crash`, or simply the output. */
export type Step = FakeHandler | typeof crash | string | number | boolean | null | object;

/** A handler for every attempt; or a list, first attempt first, whose last step is for all that follow. */
export type Behaviour = FakeHandler | readonly Step[];

/** A step: works on it and never ends, though it beats, until it is told to stop. */
export const hang: FakeHandler = (_input, { signal }) =>
  new Promise((_resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
  });

export interface FailOptions {
  /** False: no other attempt would do better. Default: true. */
  readonly retryable?: boolean;
  /** The soonest that the next attempt makes sense. */
  readonly after?: Duration;
  /** A short stable name for programs, where it is not retryable. */
  readonly reason?: string;
}

/** A step: the attempt fails. */
export function fail(message: string, { retryable = true, after, reason }: FailOptions = {}): FakeHandler {
  return () => {
    if (retryable) throw new Retry(message, after === undefined ? {} : { after });
    throw new Fail(message, reason === undefined ? {} : { reason });
  };
}

/** A step: not for this agent. */
export function reject(message: string): FakeHandler {
  return () => {
    throw new Reject(message);
  };
}

export function checkBehaviour(capability: string, behaviour: unknown): void {
  if (typeof behaviour === "function" || (Array.isArray(behaviour) && behaviour.length > 0)) return;
  const remedy =
    "Give a handler, such as (input) => output, or a list of what happens in each attempt, such as [crash, output].";
  throw new UsageError(`The fake of ${capability} has neither a handler nor a script.`, remedy);
}

/** Attempts count from 1. */
export function stepFor(behaviour: Behaviour, attempt: number): Step {
  if (typeof behaviour === "function") return behaviour;
  return behaviour[Math.min(attempt, behaviour.length) - 1] ?? null;
}
