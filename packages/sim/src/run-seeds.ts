/** Runs seeds one after the other, each twice: the same seed must give the same trace. Stops at the first failure. */

import type { Duration } from "@handfast/core";
import { type Mistake, type SimulationResult, simulate } from "./simulate.ts";
import { type Counts, Tally } from "./tally.ts";

export interface SeedsOptions {
  readonly first: number;
  readonly seeds: number;
  readonly handoffs: number;
  /** From one seed to the next: threads take turns. */
  readonly step?: number;
  /** Stop after so much real time; null: when all seeds ran. */
  readonly wall_ms?: Duration | null;
}

export interface SeedsHooks {
  readonly trace?: (line: string) => void;
  readonly mistake?: Mistake;
  readonly onSeed?: (seed: number, handoffs: number) => void;
}

/** Plain data: it may come from another thread. */
export interface Failure {
  readonly seed: number;
  readonly handoffs: number;
  readonly invariant: string;
  readonly about: string;
  readonly message: string;
  readonly tail: readonly string[];
}

export interface SeedsResult {
  readonly seeds: number;
  readonly handoffs: number;
  readonly virtual_ms: Duration;
  readonly counts: Counts;
  readonly failure: Failure | null;
}

export async function runSeeds(options: SeedsOptions, hooks: SeedsHooks = {}): Promise<SeedsResult> {
  const { first, handoffs, step = 1, wall_ms = null } = options;
  const { trace, mistake, onSeed } = hooks;
  const began = performance.now();
  const tally = new Tally();
  let seeds = 0;
  let accepted = 0;
  let virtual_ms = 0;
  let failure: Failure | null = null;
  while (seeds < options.seeds && failure === null) {
    if (wall_ms !== null && performance.now() - began > wall_ms) break;
    const seed = first + seeds * step;
    const setup = { seed, handoffs, ...(mistake !== undefined && { mistake }) };
    const result = await simulate({ ...setup, ...(trace !== undefined && { print: trace }) });
    const again = result.violation === null ? await simulate(setup) : null;
    failure = failureOf(result, again, handoffs);
    tally.addAll(result.tally.counts());
    seeds += 1;
    accepted += result.handoffs;
    virtual_ms += result.virtual_ms;
    onSeed?.(seed, result.handoffs);
  }
  return { seeds, handoffs: accepted, virtual_ms, counts: tally.counts(), failure };
}

function failureOf(result: SimulationResult, again: SimulationResult | null, handoffs: number): Failure | null {
  const { seed } = result;
  const violation = result.violation ?? again?.violation;
  if (violation != null) {
    const { invariant, about, message } = violation;
    return { seed, handoffs, invariant, about, message, tail: (again ?? result).tail };
  }
  if (again === null || again.digest === result.digest) return null;
  const message = `trace ${result.digest} first, ${again.digest} then`;
  return { seed, handoffs, invariant: "a seed fixes everything", about: "sim", message, tail: [] };
}
