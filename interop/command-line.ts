/** The options of `npm run interop`. */

import { parseArgs } from "node:util";
import { type Scenario, scenario_names, scenarios } from "./scenarios/scenario.ts";

export interface CommandLine {
  readonly help: boolean;
  readonly install: boolean;
  readonly json: boolean;
  readonly write: boolean;
  readonly quick: boolean;
  readonly senders: readonly string[];
  readonly workers: readonly string[];
  readonly scenarios: readonly Scenario[];
}

export class UsageError extends Error {}

export function usageOf(rows: readonly string[]): string {
  return `npm run interop -- [options]

Every sender with every worker, each the real framework in a process of its own, through one relay.

  --only LIST       these rows, as senders and as workers
  --senders LIST    these as senders
  --workers LIST    these as workers
  --scenarios LIST  these scenarios
  --quick           the rows that need no framework of Python and no gateway
  --install         only installs what the rows need
  --write           writes docs/interop.md
  --json            the result as JSON on stdout
  --help            this text

rows: ${rows.join(", ")}
scenarios:
${scenario_names.map((name) => `  ${name.padEnd(14)}  ${scenarios[name]}`).join("\n")}

The first run installs the frameworks into interop/.cache and adapters/openclaw (about 2 GB, needs the network). A framework that cannot be had is
named with its reason, and its pairs are left out.
Ends with 0 when every scenario of every pair passed or is a named gap, with 1 when one failed, with 64 for wrong options.`;
}

export function readCommandLine(args: readonly string[], rows: readonly string[]): CommandLine {
  const list = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const { values } = parsed(() =>
    parseArgs({
      args: [...args],
      options: {
        only: list,
        senders: list,
        workers: list,
        scenarios: list,
        quick: flag,
        install: flag,
        write: flag,
        json: flag,
        help: flag,
      },
    }),
  );
  const { only, help, install, json, write, quick } = values;
  if (write && (quick || (only ?? values.senders ?? values.workers ?? values.scenarios) !== undefined)) {
    throw new UsageError(
      "--write is for the whole matrix: leave --quick, --only, --senders, --workers and --scenarios out",
    );
  }
  return {
    help,
    install,
    json,
    write,
    quick,
    senders: named(values.senders ?? only, rows, "row") ?? rows,
    workers: named(values.workers ?? only, rows, "row") ?? rows,
    scenarios: named(values.scenarios, scenario_names, "scenario") ?? scenario_names,
  };
}

function named<Name extends string>(
  text: string | undefined,
  known: readonly Name[],
  what: string,
): readonly Name[] | null {
  if (text === undefined) return null;
  const names = text.split(",").map((name) => name.trim());
  const strangers = names.filter((name) => !known.some((one) => one === name));
  if (strangers.length > 0) throw new UsageError(`no ${what} ${strangers.join(", ")}; there are ${known.join(", ")}`);
  return known.filter((one) => names.includes(one));
}

function parsed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
