/** `npm run sim`: runs worlds with faults and counts; `--help` lists the options. */

import { availableParallelism } from "node:os";
import { mistakes } from "./mistakes/mistakes.ts";
import { type CommandLine, readCommandLine, UsageError, usage } from "./run/command-line.ts";
import { failureReport, huntReport, summary, verdictOf } from "./run/report.ts";
import { huntMistakes, type Message, runThreads, shrinkOnThread } from "./run/run-threads.ts";

const progress_every_ms = 10_000;
const began = performance.now();
const print = (line: string) => void process.stdout.write(`${line}\n`);
const printAll = (lines: readonly string[]) => lines.forEach(print);

// Nobody reads any more (`| head`): as a program that knows nothing of it ends, 128 and the number of SIGPIPE.
process.stdout.on("error", () => process.exit(141));

try {
  const line = readCommandLine(process.argv.slice(2));
  if (line.help) print(usage);
  else process.exitCode = line.hunt ? await hunt(line) : await run(line);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n${usage}\n`);
  process.exitCode = 64;
}

async function run(line: CommandLine): Promise<number> {
  const { seeds } = line;
  const threads = line.single ? 1 : Math.min(seeds.seeds, line.threads ?? availableParallelism());
  const result = await runThreads(seeds, threads, line.json ? () => {} : progress(seeds.total ?? null));
  const wall_ms = performance.now() - began;
  const verdict = verdictOf(result);
  if (line.json) print(JSON.stringify({ ...result, ...verdict, wall_ms }, null, 2));
  else if (seeds.mistake == null) printAll(summary(result, wall_ms));
  const { failure } = verdict;
  if (failure === null) {
    // A mistake that is put back must be found.
    if (seeds.mistake != null && !line.json) print(`${seeds.mistake} was not found in ${result.seeds} seeds`);
    return verdict.passed && seeds.mistake == null ? 0 : 1;
  }
  const smallest = line.shrink ? await shrinkOnThread(failure, tellLines) : failure;
  if (!line.json) printAll(failureReport(smallest));
  return 1;
}

async function hunt(line: CommandLine): Promise<number> {
  const names = Object.keys(mistakes);
  const threads = line.threads ?? availableParallelism();
  const hunts = await huntMistakes(names, line.seeds, threads, (found) => {
    if (!line.json) printAll(huntReport([found]));
  });
  const missed = hunts.filter(({ failure }) => failure === null);
  if (line.json) print(JSON.stringify(hunts, null, 2));
  else print(`${hunts.length - missed.length} of ${names.length} known mistakes found`);
  return missed.length === 0 && hunts.length === names.length ? 0 : 1;
}

function tellLines(message: Message): void {
  if (message.type === "line") print(message.line);
}

/** A line now and then, so that a long run shows that it lives. */
function progress(total: number | null): (message: Message) => void {
  let told_at = began;
  let seeds = 0;
  let accepted = 0;
  return (message) => {
    tellLines(message);
    if (message.type !== "seed") return;
    seeds += 1;
    accepted += message.handoffs;
    if (performance.now() - told_at < progress_every_ms) return;
    told_at = performance.now();
    const seconds = (told_at - began) / 1_000;
    const of = total === null ? "" : ` of ${total}`;
    print(`${seeds} seeds, ${accepted}${of} handoffs, ${seconds.toFixed(0)} s, ${Math.round(accepted / seconds)}/s`);
  };
}
