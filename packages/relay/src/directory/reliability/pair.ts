/** What was measured of one agent in one capability. */

import type { Duration, Time } from "@handfast/core";
import type { Decay } from "./decay.ts";
import { DecayingCounts, type StoredCounts } from "./decaying-counts.ts";
import { LatencyHistogram, type StoredLatency } from "./latency-histogram.ts";
import { PeakLatency, type StoredPeak } from "./peak-latency.ts";
import { type EjectionRules, type StoredStreak, Streak } from "./streak.ts";

export interface PairRules extends EjectionRules {
  /** Of the counts. */
  readonly windows: readonly Decay[];
  /** Of the latency. */
  readonly decay: Decay;
  readonly peak_forget_ms: Duration;
}

/** As it lies in the store. */
export interface StoredPair {
  readonly agent: string;
  readonly capability: string;
  readonly since: Time;
  readonly last_at: Time;
  readonly heard: number;
  readonly counts: StoredCounts;
  readonly latency: StoredLatency;
  readonly peak: StoredPeak | null;
  readonly streak: StoredStreak;
}

export class Pair {
  readonly agent: string;
  readonly capability: string;
  /** When its first attempt was counted, and its last. */
  readonly since: Time;
  last_at: Time;
  /** Rises with every attempt that is counted, over all pairs: the lowest was longest unheard of. */
  heard: number;
  /** Where `Pairs` keeps it; negative: nowhere any more. */
  place = -1;
  readonly counts: DecayingCounts;
  readonly latency: LatencyHistogram;
  readonly peak: PeakLatency;
  readonly streak: Streak;
  readonly #rules: PairRules;

  constructor(rules: PairRules, of: Pick<StoredPair, "agent" | "capability" | "since"> & Partial<StoredPair>) {
    this.#rules = rules;
    this.agent = of.agent;
    this.capability = of.capability;
    this.since = of.since;
    this.last_at = of.last_at ?? of.since;
    this.heard = of.heard ?? 0;
    this.counts = new DecayingCounts(rules.windows, of.counts);
    this.latency = new LatencyHistogram(of.latency);
    this.peak = new PeakLatency(of.peak);
    this.streak = new Streak(of.streak);
  }

  /** `took_ms` null: how long it took is not known, or says nothing. */
  succeeded(at: Time, took_ms: Duration | null): void {
    this.last_at = at;
    this.counts.add(at, true);
    this.streak.succeeded(at);
    if (took_ms === null) return;
    this.latency.add(at, took_ms, this.#rules.decay);
    this.peak.add(at, took_ms, this.#rules.peak_forget_ms);
  }

  /** Whether the agent is left out from now on. */
  failed(at: Time): boolean {
    this.last_at = at;
    this.counts.add(at, false);
    return this.streak.failed(at, this.#rules);
  }

  stored(): StoredPair {
    const { agent, capability, since, last_at, heard } = this;
    return {
      agent,
      capability,
      since,
      last_at,
      heard,
      counts: this.counts.stored(),
      latency: this.latency.stored(),
      peak: this.peak.stored(),
      streak: this.streak.stored(),
    };
  }
}
