/**
 * Runs seeds one after the other and stops at the first failure. Some of them, or all, run twice: the same seed must give
 * the same trace.
 */

import type { Duration } from "@handfast/core";
import type { Invariant } from "../checks/invariants.ts";
import { Coverage, type CoverageCounts } from "../coverage/coverage.ts";
import { mistakeNamed } from "../mistakes/mistakes.ts";
import type { FaultName } from "../scenario/faults.ts";
import { type SimulationOptions, type SimulationResult, simulate } from "./simulate.ts";
import { type Counts, Tally } from "./tally.ts";

/** Plain data: it may go to another thread. */
export interface SeedsOptions {
  readonly first: number;
  /** At most so many. */
  readonly seeds: number;
  /** Accepted handoffs of one seed. */
  readonly handoffs: number;
  /** Stop when so many handoffs were accepted in all; null: when all seeds ran. */
  readonly total?: number | null;
  /** From one seed to the next: threads take turns. */
  readonly step?: number;
  /** Every so manyth seed runs twice; 1: all of them; null: none. */
  readonly twice_every?: number | null;
  /** Stop after so much real time; null: when all seeds ran. */
  readonly wall_ms?: Duration | null;
  readonly without?: readonly FaultName[];
  /** The name of a known mistake to put back. */
  readonly mistake?: string | null;
  /** Tell every line of the trace. */
  readonly trace?: boolean;
}

export interface SeedsHooks {
  readonly onLine?: (line: string) => void;
  /** Told of every seed that held. */
  readonly onSeed?: (seed: number, handoffs: number) => void;
}

/** How to see it again. */
export interface Failure {
  readonly seed: number;
  readonly handoffs: number;
  readonly without: readonly FaultName[];
  readonly mistake: string | null;
  readonly invariant: Invariant;
  readonly about: string;
  readonly message: string;
  readonly tail: readonly string[];
}

export interface SeedsResult {
  readonly seeds: number;
  /** How many of them ran twice. */
  readonly twice: number;
  readonly handoffs: number;
  readonly virtual_ms: Duration;
  /** The longest that a world took after healing until nothing was open. */
  readonly drained_most_ms: Duration;
  readonly counts: Counts;
  readonly coverage: CoverageCounts;
  readonly looks: Readonly<Partial<Record<Invariant, number>>>;
  readonly failure: Failure | null;
}

export async function runSeeds(options: SeedsOptions, hooks: SeedsHooks = {}): Promise<SeedsResult> {
  const { first, step = 1, wall_ms = null, total = null, twice_every = 1, trace = false } = options;
  const began = performance.now();
  const sum = new Sum();
  while (sum.seeds < options.seeds && sum.failure === null) {
    if (wall_ms !== null && performance.now() - began > wall_ms) break;
    if (total !== null && sum.handoffs >= total) break;
    const seed = first + sum.seeds * step;
    const setup = setupOf(options, seed);
    const twice = twice_every !== null && seed % twice_every === 0;
    const print = trace ? hooks.onLine : undefined;
    const result = await simulate({ ...setup, trace: twice || trace, ...(print !== undefined && { print }) });
    // Without a trace, a second run tells what led to the violation.
    const again = twice || result.violation !== null ? await simulate({ ...setup, trace: true }) : null;
    sum.add(result, twice, failureOf(options, result, again));
    if (sum.failure === null) hooks.onSeed?.(seed, result.handoffs);
  }
  return sum.result();
}

/** What one seed of these options is. */
export function setupOf({ handoffs, without, mistake }: SeedsOptions, seed: number): SimulationOptions {
  return { seed, handoffs, without: without ?? [], mistake: mistake == null ? null : mistakeNamed(mistake) };
}

export function failureOf(
  { handoffs, without = [], mistake = null }: SeedsOptions,
  result: SimulationResult,
  again: SimulationResult | null,
): Failure | null {
  const { seed } = result;
  const violation = result.violation ?? again?.violation ?? null;
  const replay = { seed, handoffs, without, mistake };
  if (violation !== null && violation.message === (again?.violation ?? violation).message) {
    const { invariant, about, message } = violation;
    return { ...replay, invariant, about, message, tail: (again ?? result).tail };
  }
  const differs = violation !== null || (result.digest !== null && again !== null && result.digest !== again.digest);
  if (!differs) return null;
  const one = result.violation?.message ?? result.digest;
  const other = again?.violation?.message ?? again?.digest;
  const message = `first ${one}, then ${other}`;
  return { ...replay, invariant: "a seed fixes everything", about: "sim", message, tail: [] };
}

/** The failure of the lowest seed, whichever thread was quicker: the same run tells the same. */
function lowest(one: Failure | null, other: Failure | null): Failure | null {
  if (one === null || other === null) return one ?? other;
  return other.seed < one.seed ? other : one;
}

/** Results of seeds, or of threads, added up. */
export class Sum {
  seeds = 0;
  handoffs = 0;
  failure: Failure | null = null;
  #twice = 0;
  #virtual_ms = 0;
  #drained_most_ms = 0;
  readonly #tally = new Tally();
  readonly #coverage = new Coverage();
  readonly #looks = new Map<string, number>();

  add(result: SimulationResult, twice: boolean, failure: Failure | null): void {
    this.#tally.add("weather", result.weather);
    this.#add(result, 1, twice ? 1 : 0, result.drained_ms, result.tally.counts(), result.coverage.counts(), failure);
    for (const [invariant, count] of result.looks) this.#look(invariant, count);
  }

  addAll(result: SeedsResult): void {
    const { seeds, twice, drained_most_ms, counts, coverage, failure } = result;
    this.#add(result, seeds, twice, drained_most_ms, counts, coverage, failure);
    for (const [invariant, count] of Object.entries(result.looks)) this.#look(invariant, count);
  }

  #add(
    { handoffs, virtual_ms }: { readonly handoffs: number; readonly virtual_ms: Duration },
    seeds: number,
    twice: number,
    drained_ms: Duration,
    counts: Counts,
    coverage: CoverageCounts,
    failure: Failure | null,
  ): void {
    this.seeds += seeds;
    this.#twice += twice;
    this.handoffs += handoffs;
    this.#virtual_ms += virtual_ms;
    this.#drained_most_ms = Math.max(this.#drained_most_ms, drained_ms);
    this.#tally.addAll(counts);
    this.#coverage.addAll(coverage);
    this.failure = lowest(this.failure, failure);
  }

  #look(invariant: string, count: number): void {
    this.#looks.set(invariant, (this.#looks.get(invariant) ?? 0) + count);
  }

  result(): SeedsResult {
    return {
      seeds: this.seeds,
      twice: this.#twice,
      handoffs: this.handoffs,
      virtual_ms: this.#virtual_ms,
      drained_most_ms: this.#drained_most_ms,
      counts: this.#tally.counts(),
      coverage: this.#coverage.counts(),
      looks: Object.fromEntries(this.#looks),
      failure: this.failure,
    };
  }
}
