/**
 * Waits for a change without missing one: what is published between a read and the next wait is remembered. Carries no
 * data; whoever was woken reads again.
 */

import type { Surroundings, Wakeups } from "@handfast/engine";

type Awakened = Pick<Wakeups, "subscribe" | "surroundings">;

export interface WatchOptions {
  /** Where the keys are woken often: the shortest time between two reads. */
  readonly pause_ms?: number;
  /** False: what has changed is not what is waited for, as a look into memory shows. Asked at every wakeup. */
  readonly concerns?: () => boolean;
}

export class Watch {
  #changed = false;
  #wake: (() => void) | null = null;
  readonly #stops: (() => void)[];
  readonly #signal: AbortSignal;
  readonly #surroundings: Surroundings;

  constructor(
    wakeups: Awakened,
    keys: readonly string[],
    signal: AbortSignal,
    { concerns }: Pick<WatchOptions, "concerns"> = {},
  ) {
    const changed = () => {
      if (this.#changed || concerns?.() === false) return;
      this.#changed = true;
      this.#wake?.();
    };
    this.#stops = keys.map((key) => wakeups.subscribe(key, changed));
    this.#signal = signal;
    this.#surroundings = wakeups.surroundings;
  }

  /** True: something changed since the last call returned. False: the time is over, or the signal aborted. */
  async next(wait_ms: number): Promise<boolean> {
    if (!this.#changed && !this.#signal.aborted && wait_ms > 0) await this.#pause(wait_ms);
    const changed = this.#changed;
    this.#changed = false;
    return changed && !this.#signal.aborted;
  }

  #pause(wait_ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = () => {
      cancel();
      this.#signal.removeEventListener("abort", end);
      this.#wake = null;
      resolve();
    };
    const cancel = this.#surroundings.schedule(wait_ms, end);
    this.#signal.addEventListener("abort", end);
    this.#wake = end;
    return promise;
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }
}

/** So long, or until the signal aborts. */
export async function rest(surroundings: Surroundings, pause_ms: number, signal: AbortSignal): Promise<void> {
  if (pause_ms <= 0 || signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = surroundings.schedule(pause_ms, resolve);
  const abort = () => resolve();
  signal.addEventListener("abort", abort);
  await promise;
  cancel();
  signal.removeEventListener("abort", abort);
}

/** Reads until `isReady` or the time is over; the last thing read is the answer either way. */
export async function readUntil<T>(
  wakeups: Awakened,
  keys: readonly string[],
  wait_ms: number,
  signal: AbortSignal,
  read: () => T | Promise<T>,
  isReady: (value: T) => boolean,
  options: WatchOptions = {},
): Promise<T> {
  const { pause_ms = 0 } = options;
  const watch = new Watch(wakeups, keys, signal, options);
  const { surroundings } = wakeups;
  const until = surroundings.now() + wait_ms;
  try {
    // It has not come yet, as the same look into memory shows: what would be read now says no more.
    if (wait_ms > 0 && options.concerns?.() === false && !(await watch.next(wait_ms))) return await read();
    for (;;) {
      const value = await read();
      const left_ms = until - surroundings.now();
      // However busy it is: a wait ends when its time is over, not when nothing happens any more.
      if (isReady(value) || left_ms <= 0 || !(await watch.next(left_ms))) return value;
      await rest(surroundings, Math.min(pause_ms, until - surroundings.now()), signal);
    }
  } finally {
    watch.close();
  }
}
