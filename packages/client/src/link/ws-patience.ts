/** One timer for the many calls of a line: it goes off at the earliest moment at which something must be done about one. */

import type { Surroundings } from "../surroundings.ts";
import { linkLimits } from "./limits.ts";

export class Patience {
  readonly #surroundings: Surroundings;
  readonly #onOver: (is_late: boolean) => void;
  #at = Number.POSITIVE_INFINITY;
  #callOff: () => void = () => {};

  /** `is_late`: this process stood still meanwhile, and may not have heard what came. */
  constructor(surroundings: Surroundings, onOver: (is_late: boolean) => void) {
    this.#surroundings = surroundings;
    this.#onOver = onOver;
  }

  /** At that moment, or sooner if it goes off sooner already. */
  until(at: number): void {
    if (at < this.#at) this.reset(at);
  }

  /** At that moment, whatever was set before. */
  reset(at: number): void {
    if (at === this.#at) return;
    this.#callOff();
    this.#at = at;
    this.#callOff = Number.isFinite(at) ? this.#set(at) : () => {};
  }

  #set(at: number): () => void {
    // Somebody waits for it, so the process stays alive.
    return this.#surroundings.after(Math.max(1, at - this.#surroundings.now()), () => this.#over(at), true);
  }

  #over(at: number): void {
    this.#at = Number.POSITIVE_INFINITY;
    this.#onOver(this.#surroundings.now() - at > linkLimits.late_ms);
  }
}
