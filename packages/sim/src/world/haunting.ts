/** Faults that come by themselves, each on its own beat, until the world is healed. */

import type { Duration } from "@handfast/core";
import type { Random } from "../random.ts";
import type { Faults } from "../scenario/faults.ts";
import type { Timeline } from "./timeline.ts";

export class Haunting {
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #faults: Faults;
  #over = false;

  constructor(timeline: Timeline, random: Random, faults: Faults) {
    this.#timeline = timeline;
    this.#random = random;
    this.#faults = faults;
  }

  end(): void {
    this.#over = true;
  }

  /** `every`: the fault whose mean time between two this is; null: it never happens. */
  often(every: (faults: Faults) => Duration | null, act: () => void): void {
    const mean_ms = every(this.#faults);
    if (mean_ms === null) return;
    const next = () => {
      this.#timeline.schedule(this.#random.skewed(0, 4 * mean_ms), () => {
        if (this.#over) return;
        act();
        next();
      });
    };
    next();
  }
}
