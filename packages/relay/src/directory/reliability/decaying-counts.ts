/** Attempts and successes, each weighing less the older it is, for several windows at once. */

import type { Time } from "@handfast/core";
import type { Decay } from "./decay.ts";

export interface Counts {
  readonly n: number;
  readonly successes: number;
}

export interface StoredCounts {
  /** When the last was counted. */
  readonly at: Time;
  readonly attempts: readonly number[];
  readonly successes: readonly number[];
}

export class DecayingCounts {
  readonly #windows: readonly Decay[];
  #at: Time;
  /** One sum for each window, in its scale of that time. */
  readonly #attempts: number[];
  readonly #successes: number[];

  constructor(windows: readonly Decay[], stored?: StoredCounts) {
    this.#windows = windows;
    this.#at = stored?.at ?? 0;
    this.#attempts = stored === undefined ? windows.map(() => 0) : [...stored.attempts];
    this.#successes = stored === undefined ? windows.map(() => 0) : [...stored.successes];
  }

  add(told_at: Time, is_success: boolean): void {
    const at = Math.max(told_at, this.#at);
    const windows = this.#windows;
    for (let index = 0; index < windows.length; index += 1) {
      const window = windows[index];
      if (window === undefined) continue;
      const before = window.epoch(this.#at);
      const now = window.epoch(at);
      if (before !== now) this.#rescale(window, index, before, now);
      const weight = window.weight(at);
      this.#attempts[index] = (this.#attempts[index] ?? 0) + weight;
      if (is_success) this.#successes[index] = (this.#successes[index] ?? 0) + weight;
    }
    this.#at = at;
  }

  /** In the window of this number. */
  by(now: Time, window: number): Counts {
    const decay = this.#windows[window];
    if (decay === undefined) throw new RangeError(`there is no window ${window}`);
    const read = (sum = 0) => decay.read(sum, this.#at, now);
    return { n: read(this.#attempts[window]), successes: read(this.#successes[window]) };
  }

  stored(): StoredCounts {
    return { at: this.#at, attempts: [...this.#attempts], successes: [...this.#successes] };
  }

  #rescale(window: Decay, index: number, from: number, to: number): void {
    this.#attempts[index] = window.rescaled(this.#attempts[index] ?? 0, from, to);
    this.#successes[index] = window.rescaled(this.#successes[index] ?? 0, from, to);
  }
}
