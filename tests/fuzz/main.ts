/**
 * Fires at a relay: `npm run fuzz -- --inputs 50000`. A failure names its seed and its episode; with
 * `--seed S --episode E` that one is played again alone. See docs/fuzzing.md.
 */

import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { failureText, reportText, shrunkText } from "./report.ts";
import { bugs } from "./run/bugs.ts";
import { type Script, wholeScript } from "./run/episode.ts";
import { replay } from "./run/replay.ts";
import { run } from "./run/run.ts";
import { shrink } from "./run/shrink.ts";

const usage = `npm run fuzz -- [options]
  --inputs N       so many requests, WebSocket messages and odd connections (50000)
  --seed N         the same inputs again (drawn)
  --lanes N        so many at once (48)
  --heap-mb N      what the relay's heap may hold (512)
  --rss-mb N       and its process (1200)
  --answer-ms N    how long an answer may take (45000)
  --no-shrink      after a failure: does not look for the smallest input
  --bug NAME       with a known bug put back; it must be found

  --episode N      with --seed: this episode alone
  --steps A,B      ... only these inputs of it
  --without S:P,…  ... without the mutations at these places
  --help           this text

Ends with 0 when the relay bore everything, else with 1 and how to see it again.
`;

const { values } = readOptions();
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}

const seed = values.seed === undefined ? randomInt(2 ** 47) : whole("seed", values.seed);
const relay = {
  heap_mb: whole("heap-mb", values["heap-mb"]),
  ...(values.bug === undefined ? {} : { bug: bugNamed(values.bug) }),
};
const say = (line: string) => void process.stdout.write(`${line}\n`);

// Not by itself: after a failure, honest agents would go on looking for their relay for a while.
process.exit(values.episode === undefined ? await fireAll() : await fireOne(whole("episode", values.episode)));

async function fireAll(): Promise<number> {
  say(`seed ${seed}`);
  const report = await run({
    ...relay,
    seed,
    inputs: whole("inputs", values.inputs),
    lanes: whole("lanes", values.lanes),
    rss_most_mb: whole("rss-mb", values["rss-mb"]),
    answer_within_ms: whole("answer-ms", values["answer-ms"]),
    say,
  });
  process.stdout.write(reportText(report));
  if (report.faults.length === 0) return 0;
  if (!values["no-shrink"] && report.suspects.length > 0) {
    say(`\nplaying ${report.suspects.length} suspect(s) alone, to find the smallest input that fails`);
    const shrunk = await shrink(report.suspects, relay, say);
    process.stdout.write(
      shrunk === null ? "none of them fails alone; play the whole run again with this seed\n" : shrunkText(shrunk),
    );
  }
  return 1;
}

async function fireOne(episode: number): Promise<number> {
  const { failure } = await replay(scriptOf(episode), relay);
  process.stdout.write(failureText(failure));
  return failure === null ? 0 : 1;
}

function scriptOf(episode: number): Script {
  const script = wholeScript(seed, episode);
  const steps = values.steps === undefined ? script.steps : numbers(values.steps);
  const without = new Map<number, Set<number>>();
  for (const pair of values.without?.split(",") ?? []) {
    const [step = 0, place = 0] = pair.split(":").map(Number);
    without.set(step, (without.get(step) ?? new Set()).add(place));
  }
  return { ...script, steps, without };
}

function bugNamed(name: string) {
  const bug = bugs.find((each) => each.name === name);
  if (bug !== undefined) return bug;
  throw new Error(
    `there is no bug ${JSON.stringify(name)} to put back; there are:\n${bugs.map((each) => each.name).join("\n")}`,
  );
}

function numbers(text: string): readonly number[] {
  return text === "none" ? [] : text.split(",").map((each) => whole("steps", each));
}

function whole(name: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new Error(`--${name} takes a whole number, not ${JSON.stringify(text)}`);
}

function readOptions() {
  try {
    return parseArgs({
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
    });
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    process.exit(64);
  }
}
