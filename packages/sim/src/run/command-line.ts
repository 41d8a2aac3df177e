/** The options of `npm run sim`. */

import { parseArgs } from "node:util";
import { isMistakeName, mistakes } from "../mistakes/mistakes.ts";
import { type FaultName, isFaultName } from "../scenario/faults.ts";
import type { SeedsOptions } from "./run-seeds.ts";

export const usage = `npm run sim -- [options]
  --seeds N        so many worlds (20)
  --total N        as many worlds as it takes for N handoffs
  --handoffs N     accepted handoffs in each (500)
  --first N        the first seed (1)
  --twice N        run every Nth seed twice and compare (20; all of them where there are few)
  --seconds N      stop after so long
  --threads N      so many at once (one per core)
  --json           the result as JSON

  --seed N         one world again
  --trace          ... with everything that happens in it
  --without A,B    ... without these faults
  --shrink         ... made as small as it still fails
  --mistake NAME   with a known mistake put back; "all": hunt each of them`;

export class UsageError extends Error {}

export interface CommandLine {
  readonly seeds: SeedsOptions;
  readonly single: boolean;
  readonly shrink: boolean;
  readonly json: boolean;
  readonly help: boolean;
  readonly threads: number | null;
  readonly hunt: boolean;
}

/** From so many seeds on, only a share of them runs twice. */
const few_seeds = 40;
const most_seeds = 100_000_000;

/** How long a known mistake is looked for. */
export const huntOptions: SeedsOptions = { first: 1, seeds: 100, handoffs: 200, twice_every: null };

export function readCommandLine(args: readonly string[]): CommandLine {
  const { values } = parsed(args);
  const { mistake, seed } = values;
  const hunt = mistake === "all";
  if (mistake !== undefined && !hunt && !isMistakeName(mistake)) {
    throw new UsageError(`there is no mistake ${mistake}; there are: ${Object.keys(mistakes).join(", ")}`);
  }
  const total = values.total === undefined ? null : whole("total", values.total);
  const seeds = seedsOf(values.seeds, { single: seed !== undefined, total, isHunting: mistake !== undefined });
  const twice = values.twice === undefined ? (seeds <= few_seeds ? 1 : 20) : whole("twice", values.twice);
  return {
    seeds: {
      first: seed === undefined ? whole("first", values.first) : whole("seed", seed),
      seeds,
      handoffs: whole("handoffs", values.handoffs ?? String(mistake === undefined ? 500 : huntOptions.handoffs)),
      total,
      twice_every: mistake === undefined ? twice : null,
      wall_ms: values.seconds === undefined ? null : 1_000 * whole("seconds", values.seconds),
      without: faultNames(values.without),
      mistake: hunt ? null : (mistake ?? null),
      trace: values.trace,
    },
    single: seed !== undefined,
    shrink: values.shrink,
    json: values.json,
    help: values.help,
    threads: values.threads === undefined ? null : whole("threads", values.threads),
    hunt,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seeds: { type: "string" },
        total: { type: "string" },
        handoffs: { type: "string" },
        first: { type: "string", default: "1" },
        twice: { type: "string" },
        seconds: { type: "string" },
        threads: { type: "string" },
        json: { type: "boolean", default: false },
        seed: { type: "string" },
        trace: { type: "boolean", default: false },
        without: { type: "string" },
        shrink: { type: "boolean", default: false },
        mistake: { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function seedsOf(
  asked: string | undefined,
  {
    single,
    total,
    isHunting,
  }: { readonly single: boolean; readonly total: number | null; readonly isHunting: boolean },
): number {
  if (single) return 1;
  if (asked !== undefined) return whole("seeds", asked);
  if (total !== null) return most_seeds;
  return isHunting ? huntOptions.seeds : 20;
}

function faultNames(list: string | undefined): readonly FaultName[] {
  return (list?.split(",") ?? []).map((name) => {
    if (isFaultName(name)) return name;
    throw new UsageError(`there is no fault ${name}`);
  });
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new UsageError(`--${name} must be a whole number above 0, not ${text}`);
}
