/**
 * Measured reliability: what came of the attempts of each agent in each capability, told by the log's events and by nothing
 * else. The same events in the same order give the same figures, whenever they are read; time comes in from outside.
 */

import type { Duration, Handoff, HandoffEvent, Time } from "@handfast/core";
import type { RelayLimits } from "../../limits.ts";
import { type Attempt, tookMs } from "./attempt.ts";
import { Decay, nearest, windowsOf } from "./decay.ts";
import { InFlight } from "./in-flight.ts";
import { type Judged, judge } from "./judge.ts";
import type { Pair } from "./pair.ts";
import { Pairs } from "./pairs.ts";
import { mostEjected } from "./streak.ts";
import { roundedOutwards, type Verdict, verdictOf, wilson } from "./wilson.ts";

export type ReliabilityLimits = Pick<
  RelayLimits,
  | "reliability_half_life_ms"
  | "reliability_pairs"
  | "reliability_chunk_pairs"
  | "reliability_peak_forget_ms"
  | "ejection_failures"
  | "ejection_ms"
  | "ejection_most_ms"
  | "ejection_share"
>;

/** What is known of an agent in a capability, beside what it claims: never a bare percentage. */
export interface Measured {
  /** Attempts that counted, each weighing less the older it is. */
  readonly n: number;
  readonly successes: number;
  /** The share of successes lies between these, with 95 % confidence. */
  readonly lower: number;
  readonly upper: number;
  /** From the ack to the end of attempts that succeeded; null: there were none. */
  readonly p50_ms: Duration | null;
  readonly p95_ms: Duration | null;
  /** When the first attempt counted, and the last. */
  readonly since: Time | null;
  readonly last_at: Time | null;
  /** After so long an attempt weighs half. */
  readonly window_ms: Duration;
  readonly status: Verdict;
}

export interface MeasuredPair {
  readonly agent: string;
  readonly capability: string;
  readonly measured: Measured;
}

/** What routing asks of an agent before it sends work there. */
export interface Standing {
  /** Peak EWMA of what succeeded; null: nothing did yet. */
  readonly latency_ms: Duration | null;
  readonly in_flight: number;
  readonly n: number;
  /** What to expect, also of one that nothing is known of: (successes + 1) / (n + 2). */
  readonly success: number;
  readonly failures_in_a_row: number;
  /** Left out until then; null: it is not left out. */
  readonly ejected_until: Time | null;
}

export interface ReliabilityOptions {
  readonly limits: ReliabilityLimits;
  /** Since when the agent of this name has been known; undefined: it is not. What is older was another's. */
  readonly knownSince: (agent: string) => Time | undefined;
  /**
   * Whether this node may hear of an agent later than of its attempts: then those of one unknown are counted too, and shown
   * once it is known.
   */
  readonly hears_late?: boolean;
}

export class Reliability {
  /** What is kept across restarts. */
  readonly pairs: Pairs;
  readonly #limits: ReliabilityLimits;
  readonly #knownSince: ReliabilityOptions["knownSince"];
  readonly #hears_late: boolean;
  readonly #windows: readonly Decay[];
  /** The number of the relay's own window. */
  readonly #own: number;
  readonly #inFlight = new InFlight();
  /** Pairs that were left out lately, by capability. */
  readonly #ejected = new Map<string, Set<Pair>>();

  constructor({ limits, knownSince, hears_late = false }: ReliabilityOptions) {
    this.#limits = limits;
    this.#knownSince = knownSince;
    this.#hears_late = hears_late;
    this.#windows = windowsOf(limits.reliability_half_life_ms);
    this.#own = nearest(this.#windows, limits.reliability_half_life_ms);
    const rules = {
      ...limits,
      windows: this.#windows,
      decay: new Decay(limits.reliability_half_life_ms),
      peak_forget_ms: limits.reliability_peak_forget_ms,
    };
    this.pairs = new Pairs(rules, limits, (pair) => this.#forgive(pair));
  }

  /** Every event of the namespace, in the log's order, each once; `resumed_at` is what it was decided under. */
  apply(event: HandoffEvent, resumed_at: Time): void {
    switch (event.type) {
      case "completed":
      case "failed":
      case "expired":
      case "requeued": {
        if (event.capability === null || event.agent === null) break;
        const attempt = this.#inFlight.get(event.handoff);
        const judged = judge(event, attempt, resumed_at);
        if (judged !== null) this.#count(event.agent, event.capability, judged, event, attempt);
        break;
      }
      default:
        break;
    }
    this.#inFlight.follow(event);
  }

  /** Whether the event is about a lease that this knows nothing of: then its handoff's history must be told first. */
  lacks(event: HandoffEvent): boolean {
    return this.#inFlight.lacks(event);
  }

  /** What was counted before: only what runs is learnt from it. */
  recallEvent(event: HandoffEvent): void {
    this.#inFlight.follow(event);
  }

  recallHandoff(handoff: Handoff): void {
    this.#inFlight.recall(handoff);
  }

  /** When `pairs` was read from the store. */
  restored(): void {
    this.#ejected.clear();
    for (const pair of this.pairs.all()) if (pair.streak.ejected_until > 0) this.#eject(pair);
  }

  of(agent: string, capability: string, now: Time, claim: number | null = null, window_ms?: Duration): Measured {
    const window = window_ms === undefined ? this.#own : nearest(this.#windows, window_ms);
    return this.#measured(this.#pair(agent, capability), now, claim, window);
  }

  /** `agents`: how many offer the capability; only a part of them may be left out at the same time. */
  standing(agent: string, capability: string, now: Time, agents: number): Standing {
    const pair = this.#pair(agent, capability);
    const in_flight = this.#inFlight.of(agent, capability);
    if (pair === undefined) {
      return { latency_ms: null, in_flight, n: 0, success: 0.5, failures_in_a_row: 0, ejected_until: null };
    }
    const { n, successes } = pair.counts.by(now, this.#own);
    return {
      latency_ms: pair.peak.by(now, pair.latency.quantile(0.5) ?? 0, this.#limits.reliability_peak_forget_ms),
      in_flight,
      n,
      success: (successes + 1) / (n + 2),
      failures_in_a_row: pair.streak.failures,
      ejected_until: this.#isEjected(pair, now, agents) ? pair.streak.ejected_until : null,
    };
  }

  /** The pairs of known agents that most attempts were counted of, at most so many. */
  busiest(most: number, now: Time): readonly MeasuredPair[] {
    const top: { readonly pair: Pair; readonly n: number }[] = [];
    for (const pair of this.pairs.all()) {
      const { n } = pair.counts.by(now, this.#own);
      const is_full = top.length >= most;
      if ((is_full && n <= (top.at(-1)?.n ?? 0)) || !this.#isOfTheKnown(pair)) continue;
      if (is_full) top.pop();
      const place = top.findIndex((other) => other.n < n);
      top.splice(place < 0 ? top.length : place, 0, { pair, n });
    }
    return top.map(({ pair }) => {
      const { agent, capability } = pair;
      return { agent, capability, measured: this.#measured(pair, now, null, this.#own) };
    });
  }

  #count(agent: string, capability: string, judged: Judged, event: HandoffEvent, attempt: Attempt | undefined): void {
    const { at } = event;
    const known_since = this.#knownSince(agent) ?? (this.#hears_late ? 0 : undefined);
    if (known_since === undefined || (attempt?.delivered_at ?? at) < known_since) return;
    const known = this.pairs.get(agent, capability);
    const pair = known !== undefined && known.since >= known_since ? known : this.pairs.make(agent, capability, at);
    if (judged === "success") pair.succeeded(at, latencyOf(event, attempt));
    else if (pair.failed(at)) this.#eject(pair);
    this.pairs.heard(pair);
  }

  /** Unless its name was another's when it was measured. */
  #pair(agent: string, capability: string): Pair | undefined {
    const pair = this.pairs.get(agent, capability);
    return pair !== undefined && this.#isOfTheKnown(pair) ? pair : undefined;
  }

  #isOfTheKnown({ agent, since }: Pair): boolean {
    const known_since = this.#knownSince(agent);
    return known_since !== undefined && since >= known_since;
  }

  #measured(pair: Pair | undefined, now: Time, claim: number | null, window: number): Measured {
    const { n, successes } = pair?.counts.by(now, window) ?? { n: 0, successes: 0 };
    const interval = roundedOutwards(wilson(successes, n));
    return {
      n: hundredths(n),
      successes: hundredths(successes),
      ...interval,
      p50_ms: pair?.latency.quantile(0.5) ?? null,
      p95_ms: pair?.latency.quantile(0.95) ?? null,
      since: pair?.since ?? null,
      last_at: pair?.last_at ?? null,
      window_ms: this.#windows[window]?.half_life_ms ?? this.#limits.reliability_half_life_ms,
      status: verdictOf(interval, hundredths(n), claim),
    };
  }

  #eject(pair: Pair): void {
    const ofCapability = this.#ejected.get(pair.capability) ?? new Set<Pair>();
    this.#ejected.set(pair.capability, ofCapability);
    const { ejected_at } = pair.streak;
    for (const other of ofCapability) if (other.streak.ejected_until <= ejected_at) ofCapability.delete(other);
    ofCapability.add(pair);
  }

  #forgive(pair: Pair): void {
    const ofCapability = this.#ejected.get(pair.capability);
    ofCapability?.delete(pair);
    if (ofCapability?.size === 0) this.#ejected.delete(pair.capability);
  }

  /** Who was left out first stays so; those over the share wait for no place. */
  #isEjected(pair: Pair, now: Time, agents: number): boolean {
    if (pair.streak.ejected_until <= now) return false;
    let before = 0;
    for (const other of this.#ejected.get(pair.capability) ?? []) {
      if (other.streak.ejected_until <= now || !this.#isOfTheKnown(other)) continue;
      if (comesBefore(other, pair)) before += 1;
    }
    return before < mostEjected(agents, this.#limits.ejection_share);
  }
}

function comesBefore(a: Pair, b: Pair): boolean {
  const difference = a.streak.ejected_at - b.streak.ejected_at;
  return difference < 0 || (difference === 0 && a.agent < b.agent);
}

/** A notice is over when it is acknowledged: that took no time worth telling. */
function latencyOf(event: HandoffEvent, attempt: Attempt | undefined): Duration | null {
  if (event.type !== "completed" || event.output === null) return null;
  return attempt === undefined || attempt.fence !== event.fence ? null : tookMs(attempt, event.at);
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
