/**
 * How long attempts took, in buckets that each reach a fifth further than the one below: a quantile is at most a tenth off.
 * The buckets move with what comes: 64 of them span a factor of 100,000 below the longest; what is shorter goes into the lowest.
 */

import type { Duration, Time } from "@handfast/core";
import type { Decay } from "./decay.ts";

const ratio = 1.2;
const log_ratio = Math.log(ratio);
const most_buckets = 64;
/** What weighs less than this beside an attempt of now makes room where room is needed. */
const least_weight = 1e-9;

export interface StoredLatency {
  /** When the last was counted. */
  readonly at: Time;
  /** Which bucket the first weight is of. */
  readonly first: number;
  readonly weights: readonly number[];
}

export class LatencyHistogram {
  #at: Time;
  #first: number;
  #weights: number[];

  constructor(stored?: StoredLatency) {
    this.#at = stored?.at ?? 0;
    this.#first = stored?.first ?? 0;
    this.#weights = stored === undefined ? [] : [...stored.weights];
  }

  add(told_at: Time, took_ms: Duration, decay: Decay): void {
    const at = Math.max(told_at, this.#at);
    const before = decay.epoch(this.#at);
    const now = decay.epoch(at);
    if (before !== now) this.#weights = this.#weights.map((weight) => decay.rescaled(weight, before, now));
    this.#at = at;
    const weight = decay.weight(at);
    const bucket = bucketOf(took_ms);
    const place = bucket - this.#first;
    const kept = place >= 0 && place < this.#weights.length ? place : this.#makeRoom(bucket, weight) - this.#first;
    this.#weights[kept] = (this.#weights[kept] ?? 0) + weight;
  }

  /** Null: nothing was measured. All weights lose alike, so it does not matter when this is asked. */
  quantile(share: number): Duration | null {
    const weights = this.#weights;
    let total = 0;
    for (let place = 0; place < weights.length; place += 1) total += weights[place] ?? 0;
    let below = 0;
    for (let place = 0; place < weights.length; place += 1) {
      const weight = weights[place] ?? 0;
      below += weight;
      if (weight > 0 && below >= share * total) return middleOf(this.#first + place);
    }
    return null;
  }

  stored(): StoredLatency {
    return { at: this.#at, first: this.#first, weights: [...this.#weights] };
  }

  /** Reaches the bucket, or the lowest that there is room for; `weight` is what an attempt of now weighs. */
  #makeRoom(bucket: number, weight: number): number {
    this.#trim(weight * least_weight);
    const weights = this.#weights;
    if (weights.length === 0) this.#first = bucket;
    while (bucket >= this.#first + weights.length) weights.push(0);
    const lowest = Math.max(this.#first + weights.length - most_buckets, Math.min(bucket, this.#first));
    for (; this.#first > lowest; this.#first -= 1) weights.unshift(0);
    for (; this.#first < lowest; this.#first += 1) {
      const gone = weights.shift() ?? 0;
      weights[0] = (weights[0] ?? 0) + gone;
    }
    return Math.max(bucket, lowest);
  }

  /** Forgets what has faded at both ends. */
  #trim(least: number): void {
    const begin = this.#weights.findIndex((weight) => weight >= least);
    const end = this.#weights.findLastIndex((weight) => weight >= least) + 1;
    this.#weights = begin < 0 ? [] : this.#weights.slice(begin, end);
    this.#first += Math.max(0, begin);
  }
}

/** Bucket 0 holds everything up to a millisecond, each further one what reaches up to `ratio` times more. */
function bucketOf(took_ms: Duration): number {
  return took_ms <= 1 ? 0 : Math.ceil(Math.log(took_ms) / log_ratio);
}

/** The value that no other of its bucket is more than a tenth away from. */
function middleOf(bucket: number): Duration {
  return Math.round((2 * ratio ** bucket) / (ratio + 1));
}
