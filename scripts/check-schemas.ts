// Tries the verdicts on pairs of schemas with values: npm run check-schemas -- --samples 1000000. A run with the same
// seed does the same. See docs/schema-compatibility.md.
import { checkPairs, type Tally, tallyText } from "../packages/relay/src/schemas/compatibility/testing/check-pairs.ts";
import {
  type CommandLine,
  readCommandLine,
  UsageError,
  usage,
} from "../packages/relay/src/schemas/compatibility/testing/command-line.ts";
import type { Trial } from "../packages/relay/src/schemas/compatibility/testing/trial.ts";

const progress_every_ms = 10_000;
const print = (line: string) => void process.stdout.write(`${line}\n`);

process.exitCode = run(asked());

function asked(): CommandLine {
  try {
    return readCommandLine(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n${usage}`);
    process.exit(64);
  }
}

function run(line: CommandLine): number {
  if (line.kind === "help") {
    process.stdout.write(usage);
    return 0;
  }
  const began = performance.now();
  print(`seed ${line.seed}`);
  const tally = checkPairs(line.samples, line.seed, tell, progress(began));
  print(tallyText(tally));
  print(`${((performance.now() - began) / 1_000).toFixed(0)} s`);
  return tally.contradictions === 0 ? 0 : 1;
}

function tell({ left, right, contradictions }: Trial): void {
  print(`left  ${JSON.stringify(left)}\nright ${JSON.stringify(right)}`);
  for (const contradiction of contradictions) print(`  ${contradiction}`);
}

/** A line now and then, so that a long run shows that it lives. */
function progress(began: number): (tally: Tally) => void {
  let told_at = began;
  return ({ pairs, held, contradictions }) => {
    if (performance.now() - told_at < progress_every_ms) return;
    told_at = performance.now();
    process.stderr.write(`${pairs} pairs, ${held} samples held against proofs, ${contradictions} contradictions\n`);
  };
}
