// Runs the tests: npm test [-- files or options of Vitest]. Closes with one plain line: N passed, N failed.
//
// Test files run in two processes, one after the other in each. Where such a process is ended from outside (by a machine that runs out of memory, by
// whoever tidies it up), nothing was said of the tests of the file it was at: such files are named and run once more, and it is what they come to
// then that counts. A test that failed is never run again, and a file whose process ends twice has failed.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv, env, execPath, stdout } from "node:process";
import { fileURLToPath } from "node:url";
import { closingLine, type Tally, tally_variable } from "./closing-line.ts";

const vitest = fileURLToPath(new URL("vitest.mjs", import.meta.resolve("vitest/package.json")));
const folder = mkdtempSync(join(tmpdir(), "handfast-test-"));
const path = join(folder, "tally.json");

try {
  const first = run(argv.slice(2));
  const again = first !== null && first.cut_off.length > 0 ? run(first.cut_off) : null;
  if (first !== null) close(first, again);
  else process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}

/** Null: Vitest did not get as far as a tally, and has said why. */
function run(words: readonly string[]): Tally | null {
  rmSync(path, { force: true });
  const { status } = spawnSync(execPath, [vitest, "run", ...words], {
    stdio: "inherit",
    // Hundreds of relays and commands are started: each compiles the same files.
    env: { ...env, [tally_variable]: path, NODE_COMPILE_CACHE: join(folder, "compiled") },
  });
  let tally: Tally;
  try {
    tally = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
  // Whatever Vitest holds against a run that the tally does not show.
  if (status !== 0 && tally.failed === 0 && tally.cut_off.length === 0) tally.failed = 1;
  return tally;
}

function close(first: Tally, again: Tally | null): void {
  for (const file of first.cut_off)
    stdout.write(`The process of ${file} ended before its tests did; it was run again.\n`);
  const lost = again === null ? first.cut_off.length : again.cut_off.length;
  const total = {
    passed: first.passed + (again?.passed ?? 0),
    failed: first.failed + (again?.failed ?? 0) + lost,
    skipped: first.skipped + (again?.skipped ?? 0),
  };
  stdout.write(`\n${closingLine(total)}\n`);
  process.exitCode = total.failed > 0 ? 1 : 0;
}
