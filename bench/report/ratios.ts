/**
 * What the comparison comes down to. Each ratio is taken within a round, where other load on the machine hits both sides
 * alike, and the median over the rounds is told. One that cannot be taken is null, with its reason beside it.
 */

import { rowName } from "../plan.ts";
import { median, type RoundFigure, type Row } from "../row.ts";

export interface Ratios {
  readonly ratios: Readonly<Record<string, number | null>>;
  readonly reasons: Readonly<Record<string, string>>;
}

export interface Side {
  readonly row: string;
  readonly concurrency: number;
  readonly value: "per_second" | "p50_ms";
}

/** Over several rows below: the best of them counts, the fastest or the one that takes the shortest. */
export interface Definition {
  readonly above: Side;
  readonly below: readonly Side[];
}

/** What a run is held against. */
export interface RatioPlan {
  readonly definitions: Readonly<Record<string, Definition>>;
  /** Told also where they cannot be taken. */
  readonly promised: readonly string[];
  /** What is to be reached: at least, or at most. */
  readonly goals: Readonly<Record<string, Goal>>;
}

interface Goal {
  readonly at: "least" | "most";
  readonly value: number;
}

export const rate = (row: string, concurrency = 256): Side => ({ row, concurrency, value: "per_second" });
export const p50 = (row: string): Side => ({ row, concurrency: 1, value: "p50_ms" });
export const over = (above: Side, ...below: readonly Side[]): Definition => ({ above, below });
const loaded = rowName({ system: "ws-unsigned", disk: "as it is", store: "loaded" });
const slow = (name: string) => rate(`${name}+slow-disk`);
const pgBoss = [rate("pg-boss"), rate("pg-boss-notify")];

/** The first eight are promised by name; the others are told where they can be taken. */
export const definitions = {
  vs_pg_boss_256: over(rate("ws-unsigned"), ...pgBoss),
  vs_bullmq_256: over(rate("ws-unsigned"), rate("bullmq")),
  vs_restate_256: over(rate("ws-unsigned"), rate("restate")),
  vs_jetstream_sync_256: over(rate("ws-unsigned"), rate("jetstream-sync")),
  signed_over_unsigned_256: over(rate("ws-signed"), rate("ws-unsigned")),
  p50_unloaded_over_bullmq: over(p50("ws-unsigned"), p50("bullmq")),
  over_bare_store_256: over(rate("ws-unsigned"), rate("bare-store")),
  loaded_over_empty: over(rate(loaded), rate("ws-unsigned")),
  signed_vs_pg_boss_256: over(rate("ws-signed"), ...pgBoss),
  signed_vs_bullmq_256: over(rate("ws-signed"), rate("bullmq")),
  signed_vs_restate_256: over(rate("ws-signed"), rate("restate")),
  signed_vs_jetstream_sync_256: over(rate("ws-signed"), rate("jetstream-sync")),
  vs_jetstream_unsynced_256: over(rate("ws-unsigned"), rate("jetstream")),
  http_over_websocket_256: over(rate("http-unsigned"), rate("ws-unsigned")),
  http_signed_over_unsigned_256: over(rate("http-signed"), rate("http-unsigned")),
  crowd_over_one_256: over(rate("crowd-unsigned"), rate("ws-unsigned")),
  crowd_signed_over_unsigned_256: over(rate("crowd-signed"), rate("crowd-unsigned")),
  slow_disk_vs_pg_boss_256: over(slow("ws-unsigned"), slow("pg-boss")),
  slow_disk_vs_bullmq_256: over(slow("ws-unsigned"), slow("bullmq")),
  slow_disk_vs_restate_256: over(slow("ws-unsigned"), slow("restate")),
  slow_disk_vs_jetstream_sync_256: over(slow("ws-unsigned"), slow("jetstream-sync")),
  slow_disk_over_bare_store_256: over(slow("ws-unsigned"), slow("bare-store")),
} as const satisfies Record<string, Definition>;

type RatioName = keyof typeof definitions;

const promised: readonly string[] = Object.keys(definitions).slice(0, 8);

const goals: Partial<Record<RatioName, Goal>> = {
  vs_pg_boss_256: { at: "least", value: 2.5 },
  vs_bullmq_256: { at: "least", value: 4 },
  signed_over_unsigned_256: { at: "least", value: 0.75 },
  p50_unloaded_over_bullmq: { at: "most", value: 0.6 },
  loaded_over_empty: { at: "least", value: 0.85 },
};

export const embedded: RatioPlan = { definitions, promised, goals };

export function takeRatios(rows: readonly Row[], { definitions }: RatioPlan = embedded): Ratios {
  const ratios: Record<string, number | null> = {};
  const reasons: Record<string, string> = {};
  for (const [name, definition] of Object.entries(definitions)) {
    const found = take(rows, definition);
    ratios[name] = typeof found === "number" ? found : null;
    if (typeof found === "string") reasons[name] = found;
  }
  return { ratios, reasons };
}

function take(rows: readonly Row[], { above, below }: Definition): number | string {
  const top = roundsOf(rows, above);
  if (typeof top === "string") return top;
  const sides = below.map((side) => roundsOf(rows, side));
  const found = sides.filter((side) => typeof side !== "string");
  if (found.length === 0) return sides.filter((side) => typeof side === "string").join("; ");
  const quotients: number[] = [];
  for (const [round, value] of top.entries()) {
    const others = found.map((side) => side[round] ?? null).filter((other) => other !== null);
    const best = above.value === "p50_ms" ? Math.min : Math.max;
    if (value !== null && others.length > 0) quotients.push(value / best(...others));
  }
  if (quotients.length === 0) return "they were never measured in the same round";
  return Number(median(quotients).toFixed(3));
}

/** A value for each round, or why there is none at all. */
function roundsOf(rows: readonly Row[], { row: name, concurrency, value }: Side): readonly (number | null)[] | string {
  const row = rows.find((one) => one.name === name);
  if (row === undefined) return `${name} was not measured in this run`;
  const figure = row.figures.find((one) => one.concurrency === concurrency);
  if (figure === undefined) return `${name}: ${row.reason ?? `not measured at ${concurrency}`}`;
  return figure.rounds.map((round: RoundFigure | null) => round?.[value] ?? null);
}
