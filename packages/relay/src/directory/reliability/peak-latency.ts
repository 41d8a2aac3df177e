/**
 * The latency that routing reckons with: it follows a slow answer at once and a quick one slowly ("peak EWMA"), so that
 * somebody who has just become slow is spared first and trusted again later.
 */

import type { Duration, Time } from "@handfast/core";

export interface StoredPeak {
  readonly at: Time;
  readonly ms: Duration;
}

export class PeakLatency {
  #at: Time;
  #ms: Duration | null;

  constructor(stored?: StoredPeak | null) {
    this.#at = stored?.at ?? 0;
    this.#ms = stored?.ms ?? null;
  }

  add(at: Time, took_ms: Duration, forget_ms: Duration): void {
    if (this.#ms === null || took_ms >= this.#ms) this.#ms = took_ms;
    else this.#ms = took_ms + (this.#ms - took_ms) * this.#kept(at, forget_ms);
    this.#at = Math.max(this.#at, at);
  }

  /** While nothing is heard, a peak sinks towards what is usual: who is spared for it must come to be tried again. */
  by(now: Time, usual_ms: Duration, forget_ms: Duration): Duration | null {
    if (this.#ms === null || this.#ms <= usual_ms) return this.#ms;
    return usual_ms + (this.#ms - usual_ms) * this.#kept(now, forget_ms);
  }

  stored(): StoredPeak | null {
    return this.#ms === null ? null : { at: this.#at, ms: this.#ms };
  }

  #kept(now: Time, forget_ms: Duration): number {
    return Math.exp(Math.min(0, this.#at - now) / forget_ms);
  }
}
