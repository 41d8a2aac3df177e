/** `npm run sim -- --seeds N [--handoffs M] [--seed S] [--trace] [--seconds T]`: runs seeds, each twice, and counts. */

import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { failureReport, summary } from "./report.ts";
import { runSeeds } from "./run-seeds.ts";
import { runThreads } from "./run-threads.ts";

const progress_every_ms = 10_000;

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    handoffs: { type: "string", default: "500" },
    seed: { type: "string" },
    trace: { type: "boolean", default: false },
    seconds: { type: "string" },
  },
});

const print = (line: string) => void process.stdout.write(`${line}\n`);
const began = performance.now();
const single = values.seed === undefined ? null : whole("seed", values.seed);
const options = {
  first: single ?? 1,
  seeds: single === null ? whole("seeds", values.seeds) : 1,
  handoffs: whole("handoffs", values.handoffs),
  wall_ms: values.seconds === undefined ? null : 1_000 * whole("seconds", values.seconds),
};
const result =
  single === null
    ? await runThreads(options, Math.min(options.seeds, availableParallelism()), progress())
    : await runSeeds(options, values.trace ? { trace: print } : {});
for (const line of summary(result, performance.now() - began)) print(line);
if (result.failure !== null) {
  for (const line of failureReport(result.failure)) print(line);
  process.exitCode = 1;
}

/** A line now and then, so that a long run shows that it lives. */
function progress(): (seed: number, handoffs: number) => void {
  let told_at = began;
  let seeds = 0;
  let accepted = 0;
  return (seed, handoffs) => {
    seeds += 1;
    accepted += handoffs;
    if (performance.now() - told_at < progress_every_ms) return;
    told_at = performance.now();
    print(
      `seed ${seed}: ${seeds} of ${options.seeds} seeds, ${accepted} handoffs, ${((told_at - began) / 1_000).toFixed(0)} s`,
    );
  };
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  print(`--${name} must be a whole number above 0, not ${text}`);
  process.exit(2);
}
