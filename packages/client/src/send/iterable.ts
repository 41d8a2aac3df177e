/**
 * An async iterable whose iterator lets go at once. A generator that waits for its next value cannot be stopped before
 * that comes; here `return()` aborts the signal that the generator works under, and then waits for its end.
 */

import { joinSignals } from "../link/any-signal.ts";

export function iterable<T>(
  generate: (signal: AbortSignal) => AsyncGenerator<T, void, undefined>,
  ...signals: readonly (AbortSignal | undefined)[]
): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => iterator(generate, signals) };
}

function iterator<T>(
  generate: (signal: AbortSignal) => AsyncGenerator<T, void, undefined>,
  signals: readonly (AbortSignal | undefined)[],
): AsyncIterator<T, void, undefined> {
  const { signal, abort, release } = joinSignals(...signals);
  const inner = generate(signal);
  let left = false;
  return {
    async next() {
      try {
        if (!left) signal.throwIfAborted();
        const step = await inner.next();
        if (step.done === true) release();
        return step;
      } catch (error) {
        release();
        // Whoever left does not want to hear that the wait it left was given up.
        if (left) return { done: true, value: undefined };
        throw error;
      }
    },
    async return() {
      left = true;
      abort(undefined);
      release();
      await inner.return().catch(() => {});
      return { done: true, value: undefined };
    },
  };
}
