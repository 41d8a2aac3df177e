/**
 * Fires at a relay: `npm run fuzz -- --inputs 50000`. A failure names its seed and its episode; with
 * `--seed S --episode E` that one is played again alone. See docs/fuzzing.md.
 */

import { endWhenTold } from "../support/end-at-once.ts";
import { type CommandLine, readCommandLine, UsageError, usage } from "./command-line.ts";
import { failureText, reportText, shrunkText } from "./report.ts";
import type { Script } from "./run/episode.ts";
import type { RelayOptions } from "./run/relay-under-fire.ts";
import { replay } from "./run/replay.ts";
import { type RunOptions, run } from "./run/run.ts";
import { shrink } from "./run/shrink.ts";

const print = (text: string) => void process.stdout.write(text);
const say = (line: string) => print(`${line}\n`);

endWhenTold();
// Not by itself: after a failure, honest agents would go on looking for their relay for a while.
process.exit(await fire(asked()));

function asked(): CommandLine {
  try {
    return readCommandLine(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n${usage}`);
    process.exit(64);
  }
}

async function fire(line: CommandLine): Promise<number> {
  switch (line.kind) {
    case "help":
      print(usage);
      return 0;
    case "run":
      return fireAll(line.options, line.shrinks);
    case "episode":
      return fireOne(line.script, line.relay);
    default:
      throw new Error(`unreachable ${JSON.stringify(line satisfies never)}`);
  }
}

async function fireAll(options: Omit<RunOptions, "say">, shrinks: boolean): Promise<number> {
  say(`seed ${options.seed}`);
  const report = await run({ ...options, say });
  print(reportText(report));
  if (report.faults.length === 0) return 0;
  if (shrinks && report.suspects.length > 0) {
    say(`\nplaying ${report.suspects.length} suspect(s) alone, to find the smallest input that fails`);
    const shrunk = await shrink(report.suspects, options, say);
    if (shrunk !== null) print(shrunkText(shrunk, options.bug));
    else say("none of them fails alone; play the whole run again with this seed");
    if (shrunk === null && report.failure !== null) print(`what failed was ${failureText(report.failure)}`);
  }
  return 1;
}

async function fireOne(script: Script, relay: RelayOptions): Promise<number> {
  const { failure } = await replay(script, relay);
  print(failureText(failure));
  return failure === null ? 0 : 1;
}
