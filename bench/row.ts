/** What came of a row: each round's figures, and their medians. */

import type { SteadyFigure } from "./measure.ts";
import type { RowPlan } from "./plan.ts";

/** One concurrency in one round. */
export interface RoundFigure {
  readonly per_second: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  /** CPU time for each handoff: of the process that sends and works, and of the server with all it started. */
  readonly driver_cpu_us: number;
  readonly server_cpu_us: number | null;
  /** Of that, the database's, where it is a server of its own beside the system. */
  readonly database_cpu_us: number | null;
  /** Null where nobody counted. */
  readonly syncs_per_handoff: number | null;
}

export interface FigureAt extends RoundFigure {
  readonly concurrency: number;
  /** In the order of the rounds; null where it failed in that one. */
  readonly rounds: readonly (RoundFigure | null)[];
}

export interface Row extends Pick<RowPlan, "system" | "disk" | "store"> {
  readonly name: string;
  readonly title: string;
  readonly conditions: string;
  /** Versions and settings, as the server was started. */
  readonly about: string | null;
  readonly figures: readonly FigureAt[];
  readonly steady: SteadyFigure | null;
  /** Why there are no figures. */
  readonly reason: string | null;
}

/** What one round of one row brought. */
export interface RowRound {
  readonly about: string | null;
  readonly figures: ReadonlyMap<number, RoundFigure>;
  readonly steady: SteadyFigure | null;
}

/** Null where it failed in every round. */
export function summarize(rounds: readonly (RoundFigure | null)[], concurrency: number): FigureAt | null {
  const there = rounds.filter((round) => round !== null);
  if (there.length === 0) return null;
  const of = (pick: (figure: RoundFigure) => number) => median(there.map(pick));
  const ofKnown = (pick: (figure: RoundFigure) => number | null) => {
    const known = there.map(pick).filter((value) => value !== null);
    return known.length === 0 ? null : median(known);
  };
  return {
    concurrency,
    per_second: of(({ per_second }) => per_second),
    p50_ms: of(({ p50_ms }) => p50_ms),
    p99_ms: of(({ p99_ms }) => p99_ms),
    driver_cpu_us: of(({ driver_cpu_us }) => driver_cpu_us),
    server_cpu_us: ofKnown(({ server_cpu_us }) => server_cpu_us),
    database_cpu_us: ofKnown(({ database_cpu_us }) => database_cpu_us),
    syncs_per_handoff: ofKnown(({ syncs_per_handoff }) => syncs_per_handoff),
    rounds,
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [low, high] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  if (low === undefined || high === undefined) throw new Error("there is no median of nothing");
  return (low + high) / 2;
}
