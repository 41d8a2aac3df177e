/** When the relay was away, by its own clock: what it could not do in time it may do late, and no lease may be lost for it. */

import type { Duration, Time } from "@handfast/core";

/** No span is longer: older ones need not be looked at. */
const longest_away_ms: Duration = 300_000;

export class RelayTimes {
  readonly #away: { readonly from: Time; readonly until: Time }[] = [];
  readonly #resumed: Time[] = [];

  /** Down, stalled, jumped or busy with one commit. */
  away(from: Time, until: Time): void {
    if (until > from) this.#away.push({ from, until });
  }

  /** It started, recovered, or came out of a stall or jump that it must have noticed. */
  resumed(at: Time): void {
    this.#resumed.push(at);
  }

  /** How much of this span it was away. */
  awayWithin(from: Time, until: Time): Duration {
    let sum = 0;
    for (let index = this.#away.length - 1; index >= 0; index -= 1) {
      const span = this.#away[index];
      if (span === undefined || span.from < from - longest_away_ms) break;
      sum += Math.max(0, Math.min(span.until, until) - Math.max(span.from, from));
    }
    return sum;
  }

  /** The last time up to `at` from which it was there again. */
  lastResumed(at: Time): Time {
    return this.#resumed.findLast((time) => time <= at) ?? 0;
  }
}
