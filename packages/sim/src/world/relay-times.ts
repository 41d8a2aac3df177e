/** When the relay was away, by its own clock: what it could not do in time it may do late, and no lease may be lost for it. */

import type { Duration, Time } from "@handfast/core";

/** No span is longer: older ones need not be looked at. */
const longest_away_ms: Duration = 300_000;

/** How long the engine's timers rest after a sweep that failed. */
const sweep_rest_ms: Duration = 1_000;

export class RelayTimes {
  readonly #away: { readonly from: Time; until: Time }[] = [];
  readonly #noticed: Time[] = [];
  readonly #possible: Time[] = [];
  #rests_until: Time = 0;
  restarted_at: Time = 0;
  stalled_at: Time = 0;
  jumped_at: Time = 0;
  /** A relay that stops no longer looks at its clock by itself: each look may show it a gap. */
  isStopping = false;

  /** Down, stalled, jumped or busy with one commit. */
  away(from: Time, until: Time): void {
    if (until > from) this.#away.push({ from, until });
  }

  /** A commit failed: had it been a sweep of what is due, the next comes after a rest. */
  failedToCommit(at: Time): void {
    this.away(Math.max(at, this.#rests_until), at + sweep_rest_ms);
    this.#rests_until = at + sweep_rest_ms;
  }

  /** From now on, until told otherwise. */
  leaves(from: Time): (until: Time) => void {
    const span = { from, until: Number.POSITIVE_INFINITY };
    this.#away.push(span);
    return (until) => {
      span.until = until;
    };
  }

  /** It started, recovered, or came out of a stall or jump that it must have noticed. */
  resumed(at: Time): void {
    this.#noticed.push(at);
    this.#possible.push(at);
  }

  /** It came out of a stall or jump that it may or may not have noticed. */
  mayHaveResumed(at: Time): void {
    this.#possible.push(at);
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

  /** The last time up to `at` from which it surely was there again; 0: never. */
  lastResumed(at: Time): Time {
    return lastUpTo(this.#noticed, at);
  }

  /** The last time up to `at` from which it may believe to be there again. */
  lastPossiblyResumed(at: Time): Time {
    return this.isStopping ? at : lastUpTo(this.#possible, at);
  }
}

function lastUpTo(times: readonly Time[], at: Time): Time {
  for (let index = times.length - 1; index >= 0; index -= 1) {
    const time = times[index];
    if (time !== undefined && time <= at) return time;
  }
  return 0;
}
