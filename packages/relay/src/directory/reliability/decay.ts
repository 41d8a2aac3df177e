/**
 * How what was measured loses weight: by half in every half-life. What is old is not made smaller; what is new is given more
 * weight, by a scale that grows with time, and a sum is divided by the scale when it is read. So counting is an addition,
 * and everything that is counted in one millisecond shares one power of two.
 */

import type { Duration, Time } from "@handfast/core";

/** The scale begins anew after so many half-lives, long before a number could not hold it. */
const epoch_half_lives = 512;

export class Decay {
  readonly half_life_ms: Duration;
  readonly #epoch_ms: Duration;
  #at: Time = -1;
  #weight = 1;

  constructor(half_life_ms: Duration) {
    this.half_life_ms = half_life_ms;
    this.#epoch_ms = half_life_ms * epoch_half_lives;
  }

  /** Which scale holds then. */
  epoch(at: Time): number {
    return Math.floor(at / this.#epoch_ms);
  }

  /** What one attempt weighs then, in the scale of that time. */
  weight(at: Time): number {
    if (at === this.#at) return this.#weight;
    this.#at = at;
    this.#weight = 2 ** ((at - this.epoch(at) * this.#epoch_ms) / this.half_life_ms);
    return this.#weight;
  }

  /** A weight of an earlier scale in a later one: exactly, since it is a power of two. */
  rescaled(weight: number, from: number, to: number): number {
    return weight * 2 ** (epoch_half_lives * (from - to));
  }

  /** How many attempts of `now` a sum as of `at` stands for. Time never goes back; should it seem to, nothing grows by it. */
  read(sum: number, at: Time, now: Time): number {
    const until = Math.max(at, now);
    const from = this.epoch(at);
    return sum * 2 ** ((from * this.#epoch_ms - until) / this.half_life_ms);
  }
}

/** Windows that are measured side by side, as parts of the relay's own. */
const rungs = [1 / 24, 1 / 4, 1, 7, 30] as const;

export function windowsOf(half_life_ms: Duration): readonly Decay[] {
  return rungs.map((rung) => new Decay(rung * half_life_ms));
}

/** Which of them is nearest to the window that was asked for, as a factor. */
export function nearest(windows: readonly Decay[], window_ms: Duration): number {
  const distances = windows.map(({ half_life_ms }) => Math.abs(Math.log(half_life_ms / window_ms)));
  return distances.indexOf(Math.min(...distances));
}
