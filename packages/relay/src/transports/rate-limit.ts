/** A token bucket per caller: a burst is fine, a flood is told when to come back. */

export interface Rate {
  readonly per_second: number;
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  at_ms: number;
}

export class RateLimit {
  readonly #rate: Rate;
  readonly #callers_max: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: Rate, callers_max: number) {
    this.#rate = rate;
    this.#callers_max = callers_max;
  }

  /** 0: go on. Else the seconds to wait. */
  take(caller: string, now_ms: number): number {
    const { per_second, burst } = this.#rate;
    const bucket = this.#buckets.get(caller) ?? { tokens: burst, at_ms: now_ms };
    bucket.tokens = Math.min(burst, bucket.tokens + ((now_ms - bucket.at_ms) / 1_000) * per_second);
    bucket.at_ms = now_ms;
    // The one that called last stands last: forgetting the first forgets whoever has been silent longest.
    this.#buckets.delete(caller);
    this.#buckets.set(caller, bucket);
    this.#forget();
    if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / per_second));
    bucket.tokens -= 1;
    return 0;
  }

  #forget(): void {
    if (this.#buckets.size <= this.#callers_max) return;
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}
