/**
 * Numbers for new handoffs, taken ahead: with them, and on the guess that what is submitted is new, a submit is written without a look.
 * Lists go by these numbers, so that one which was taken too long ago is thrown away rather than given out.
 */

import { number_kept_ms, numbers_at_once } from "./limits.ts";
import { number, type Row } from "./rows.ts";

export class Numbers {
  #free: number[] = [];
  /** By the monotonic clock. */
  #taken_at = Number.NEGATIVE_INFINITY;
  #is_asked = false;

  /** Null: so many are not there. */
  take(count: number): readonly number[] | null {
    if (count === 0) return [];
    if (this.#free.length < count || this.#age_ms > number_kept_ms) return null;
    return this.#free.splice(0, count);
  }

  /** Takes them, if it is: `ask` takes so many of the server. */
  async refill(ask: (count: number) => Promise<readonly Row[]>): Promise<void> {
    if (!this.areDue) return;
    this.#is_asked = true;
    const taken_at = performance.now();
    try {
      this.#free = (await ask(numbers_at_once)).map((row) => number(row, "num"));
      this.#taken_at = taken_at;
    } finally {
      this.#is_asked = false;
    }
  }

  /** Whether it is time to take some for the commits to come. */
  get areDue(): boolean {
    if (this.#is_asked) return false;
    return this.#free.length <= numbers_at_once / 2 || this.#age_ms >= number_kept_ms / 2;
  }

  forget(): void {
    this.#free = [];
  }

  get #age_ms(): number {
    return performance.now() - this.#taken_at;
  }
}
