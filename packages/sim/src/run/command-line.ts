/** The options of `npm run sim`. */

import { parseArgs } from "node:util";
import { isMistakeName, mistakes } from "../mistakes/mistakes.ts";
import { type FaultName, isFaultName } from "../scenario/faults.ts";
import type { SeedsOptions } from "./run-seeds.ts";

export const usage = `npm run sim -- [options]
  --seeds N        so many worlds (20; with --mistake at most 100, until it is found)
  --total N        as many worlds as it takes for N handoffs (200,000: about 3 minutes on two cores)
  --handoffs N     accepted handoffs in each (500; with --mistake 200)
  --first N        the first seed (1)
  --twice N        run every Nth seed twice and compare (20; all of them where there are few)
  --without A,B    without these faults
  --seconds N      stop after so long
  --threads N      so many at once (one per core)
  --json           the result as JSON
  --help           this text

  --seed N         one world again
  --trace          ... with everything that happens in it
  --shrink         ... made as small as it still fails

  --mistake NAME   with a known mistake put back (docs/simulation.md lists them); "all": hunt each of them

Ends with 0 when every promise held, with 1 when one was broken or too little was reached, with 64 for wrong options.
With --mistake NAME a broken promise is what is looked for: 1, and how to see it again, or that it was not found.
With --mistake all: 0 when every mistake was found, else 1.`;

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
  refuseContradictions(values);
  const hunt = mistake === "all";
  if (mistake !== undefined && !hunt && !isMistakeName(mistake)) {
    throw new UsageError(`there is no mistake ${mistake}; there are: ${Object.keys(mistakes).join(", ")}`);
  }
  const total = values.total === undefined ? null : whole("total", values.total);
  const seeds = seedsOf(values.seeds, { single: seed !== undefined, total, isHunting: mistake !== undefined });
  const twice = values.twice === undefined ? (seeds <= few_seeds ? 1 : 20) : whole("twice", values.twice);
  return {
    seeds: {
      first: seed === undefined ? whole("first", values.first ?? "1") : whole("seed", seed),
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

type Values = ReturnType<typeof parsed>["values"];

/** What would be passed over in silence is refused. */
function refuseContradictions(values: Values): void {
  for (const name of ["trace", "shrink"] as const) {
    if (values[name] && values.seed === undefined) {
      throw new UsageError(`--${name} is of one world: name it with --seed`);
    }
  }
  const excluding = [
    ["seeds", "total"],
    ["seed", "seeds"],
    ["seed", "total"],
    ["seed", "first"],
  ] as const;
  for (const [one, other] of excluding) {
    if (values[one] !== undefined && values[other] !== undefined) {
      throw new UsageError(`--${one} and --${other} exclude each other: give one of them`);
    }
  }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seeds: { type: "string" },
        total: { type: "string" },
        handoffs: { type: "string" },
        first: { type: "string" },
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
    throw new UsageError(`there is no fault ${name}; docs/simulation.md lists them`);
  });
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new UsageError(`--${name} must be a whole number above 0, not ${text}`);
}
