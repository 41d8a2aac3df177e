/** What `npm run bench -- …` may be told. */

import { parseArgs } from "node:util";
import { systemNames, systems } from "./systems.ts";

const commands = ["compare", "idle", "recovery", "soak", "profile", "discovery", "routing", "install"] as const;
const stores = ["sqlite", "postgres"] as const;
export type CommandName = (typeof commands)[number];

export interface Settings {
  readonly command: CommandName;
  /** What the relay keeps its handoffs in. */
  readonly store: "sqlite" | "postgres";
  readonly json: boolean;
  readonly quick: boolean;
  readonly seconds: number | null;
  readonly rounds: number | null;
  /** Systems or groups; null: all. */
  readonly only: readonly string[] | null;
  readonly fill: number | null;
  readonly chart: string | null;
  readonly directory: string | null;
  readonly minutes: number | null;
  readonly rate: number | null;
  readonly out: string | null;
  readonly page: string | null;
}

export const help = `npm run bench -- [command] [options]

Full durable handoffs (1 KB in, 1 KB out, synced before each confirmation) of Handfast and its peers, side by side on
this machine. Peers are installed and started by themselves, on loopback, and stopped again.

commands
  compare      the comparison (this is the default); in full also idle and recovery
  idle         5,000 idle connected workers: memory and CPU of the relay
  recovery     how soon a relay that was killed with 100,000 open handoffs is back
  soak         half of the top rate for half an hour: memory, event loop, write-ahead log, nothing left behind
  profile      where the time of one handoff goes, in the relay and in the client
  discovery    10,000 manifests with 50,000 capabilities: how fast needs are met, unloaded and beside handoffs
  routing      what it costs that the relay chooses the agent
  install      only installs and builds what the comparison needs

options
  --json           the result for machines, on stdout
  --quick          under a minute once everything is installed: one round, short, fewer rows
  --seconds N      time for each figure (compare, routing: 5; profile: 10; discovery: 20; idle: 60)
  --rounds N       rounds of all systems in turn (compare: 3; routing: 5)
  --only LIST      some systems only, by name or group, with commas between
  --fill N         handoffs queued, and as many finished, in the loaded store (1,000,000; 0: none;
                   --quick fills nothing and takes the largest store that is kept);
                   idle: workers (5,000); recovery: open handoffs (100,000); discovery: manifests (10,000)
  --chart FILE     writes the comparison as an SVG
  --minutes N      soak: how long (30)
  --rate N         soak: handoffs a second (half of what is measured first)
  --out DIR        profile: keeps the CPU profiles there
  --directory DIR  where the data goes (the system's folder for temporary files, unless that is in memory)
  --store NAME     sqlite (the default), or postgres: one node and three nodes of ours on one PostgreSQL server beside
                   pg-boss and graphile-worker there; empty, with --fill handoffs queued (1,000,000; --quick: 20,000),
                   and beside a transaction that is held open
  --page DIR       --store postgres: writes the figures into DIR/performance.md and DIR/cluster.md
  --help           this text

Peers are installed and built once, before the first comparison: that comes on top, and needs the network.
Ends with 0 when it has measured, with 1 when a bound of the soak breaks, with 64 for wrong options.

groups: ${[...new Set(Object.values(systems).map(({ group }) => group))].join(", ")}
systems: ${systemNames.join(", ")}
`;

/** A mistake in the options, told in a sentence. */
export class UsageMistake extends Error {
  override readonly name = "UsageMistake";
}

/** Null: help was asked for. */
export function readSettings(args: readonly string[]): Settings | null {
  const { values, positionals } = parse(args);
  if (values.help === true) return null;
  const [first = "compare", ...rest] = positionals;
  const command = commands.find((name) => name === first);
  if (command === undefined || rest.length > 0) {
    throw new UsageMistake(`There is no command ${[first, ...rest].join(" ")}. There are ${commands.join(", ")}.`);
  }
  const store = stores.find((name) => name === (values.store ?? "sqlite"));
  if (store === undefined) throw new UsageMistake(`There is no store ${values.store}. There are ${stores.join(", ")}.`);
  if (store === "postgres" && command !== "compare") {
    throw new UsageMistake(`${command} is measured on sqlite only; --store postgres is for the comparison.`);
  }
  return {
    command,
    store,
    json: values.json ?? false,
    quick: values.quick ?? false,
    seconds: positive("seconds", values.seconds),
    rounds: positive("rounds", values.rounds),
    only: values.only === undefined ? null : known(values.only.split(",")),
    fill: positive("fill", values.fill, true),
    chart: values.chart ?? null,
    directory: values.directory ?? null,
    minutes: positive("minutes", values.minutes),
    rate: positive("rate", values.rate),
    out: values.out ?? null,
    page: values.page ?? null,
  };
}

function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const texts = { seconds: text, rounds: text, only: text, fill: text, chart: text, directory: text, minutes: text };
  const options = { json: flag, quick: flag, help: flag, rate: text, out: text, store: text, page: text, ...texts };
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (error) {
    // Node goes on with advice on arguments that begin with a dash: there are none here, and its quote has no end.
    const message = error instanceof Error ? error.message : String(error);
    throw new UsageMistake(message.replace(/ To specify a positional argument .*/s, "").replace(/\.?$/, "."));
  }
}

function positive(name: string, text: string | undefined, orZero = false): number | null {
  if (text === undefined) return null;
  const value = Number(text.replaceAll(",", ""));
  if (value > 0 || (orZero && value === 0)) return value;
  throw new UsageMistake(`--${name} takes a positive number, not ${text}.`);
}

function known(names: readonly string[]): readonly string[] {
  const groups = Object.values(systems).map(({ group }) => group);
  const there: readonly string[] = [...systemNames, ...groups];
  const unknown = names.find((name) => !there.includes(name));
  if (unknown === undefined) return names;
  throw new UsageMistake(`--only knows no ${unknown}. There are ${[...new Set(there)].join(", ")}.`);
}
