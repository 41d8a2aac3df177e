/** The options of `npm run fuzz`. */

import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { bugs, type KnownBug } from "./run/bugs.ts";
import { type Script, wholeScript } from "./run/episode.ts";
import type { RelayOptions } from "./run/relay-under-fire.ts";
import type { RunOptions } from "./run/run.ts";

export const usage = `npm run fuzz -- [options]
  --inputs N       so many requests, WebSocket messages and odd connections (50000: about 2.5 minutes on two cores)
  --seed N         the same inputs again (drawn)
  --lanes N        so many at once (48)
  --heap-mb N      what the relay's heap may hold (512)
  --rss-mb N       and its process (1200)
  --answer-ms N    how long an answer may take (45000)
  --no-shrink      after a failure: does not look for the smallest input
  --bug NAME       with a known bug put back; it must be found

  --episode N      with --seed: this episode alone
  --steps A,B      ... only these inputs of it; "none": only what comes before them
  --without S:P,…  ... without the mutations at these places
  --help           this text

Ends with 0 when the relay bore everything, with 1 and how to see it again when not (so also when a bug that was put
back is found), with 64 for wrong options, with 128 and the number of the signal when one ended it.

bugs
${bugs.map(({ name, what }) => `  ${name.padEnd(24)}${what}`).join("\n")}
`;

export class UsageError extends Error {}

/** A whole run, or one episode again. */
export type CommandLine =
  | { readonly kind: "help" }
  | { readonly kind: "run"; readonly options: Omit<RunOptions, "say">; readonly shrinks: boolean }
  | { readonly kind: "episode"; readonly script: Script; readonly relay: RelayOptions };

export function readCommandLine(args: readonly string[]): CommandLine {
  const values = parsed(args);
  if (values.help) return { kind: "help" };
  refuseHalves(values);
  const relay = {
    heap_mb: whole("heap-mb", values["heap-mb"], 1),
    ...(values.bug === undefined ? {} : { bug: bugNamed(values.bug) }),
  };
  const seed = values.seed === undefined ? randomInt(2 ** 47) : whole("seed", values.seed);
  if (values.episode !== undefined) {
    return { kind: "episode", script: scriptOf(seed, whole("episode", values.episode), values), relay };
  }
  const options = {
    ...relay,
    seed,
    inputs: whole("inputs", values.inputs, 1),
    lanes: whole("lanes", values.lanes, 1),
    rss_most_mb: whole("rss-mb", values["rss-mb"], 1),
    answer_within_ms: whole("answer-ms", values["answer-ms"], 1),
  };
  return { kind: "run", options, shrinks: !values["no-shrink"] };
}

type Values = ReturnType<typeof parsed>;

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        inputs: { type: "string", default: "50000" },
        seed: { type: "string" },
        lanes: { type: "string", default: "48" },
        "heap-mb": { type: "string", default: "512" },
        "rss-mb": { type: "string", default: "1200" },
        "answer-ms": { type: "string", default: "45000" },
        bug: { type: "string" },
        "no-shrink": { type: "boolean", default: false },
        episode: { type: "string" },
        steps: { type: "string" },
        without: { type: "string" },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** What names a part of something that is not named itself. */
function refuseHalves(values: Values): void {
  for (const name of ["steps", "without"] as const) {
    if (values[name] !== undefined && values.episode === undefined) {
      throw new UsageError(`--${name} is of one episode: name it with --seed and --episode`);
    }
  }
  if (values.episode !== undefined && values.seed === undefined) {
    throw new UsageError("--episode is of one seed: name it with --seed");
  }
}

function scriptOf(seed: number, episode: number, values: Values): Script {
  const script = wholeScript(seed, episode);
  return {
    ...script,
    steps: values.steps === undefined ? script.steps : stepsOf(values.steps),
    without: placesOf(values.without),
  };
}

function stepsOf(text: string): readonly number[] {
  return text === "none" ? [] : text.split(",").map((each) => whole("steps", each));
}

function placesOf(text: string | undefined): Script["without"] {
  const without = new Map<number, Set<number>>();
  for (const pair of text?.split(",") ?? []) {
    const [, step = "", place = ""] = /^(\d+):(\d+)$/.exec(pair) ?? [];
    if (step === "") throw new UsageError(`--without takes pairs such as 47:0, not ${JSON.stringify(pair)}`);
    without.set(Number(step), (without.get(Number(step)) ?? new Set()).add(Number(place)));
  }
  return without;
}

function bugNamed(name: string): KnownBug {
  const bug = bugs.find((each) => each.name === name);
  if (bug !== undefined) return bug;
  throw new UsageError(`there is no bug ${name} to put back; there are: ${bugs.map((each) => each.name).join(", ")}`);
}

function whole(name: string, text: string, least = 0): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number) && number >= least) return number;
  throw new UsageError(`--${name} takes a whole number from ${least} on, not ${JSON.stringify(text)}`);
}
