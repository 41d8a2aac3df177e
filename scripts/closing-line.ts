/**
 * Vitest reporter that closes a run with one plain line: N passed, N failed. Files whose process ended before they did are
 * named above it: Vitest itself says only that a process is gone.
 */

import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { env } from "node:process";
import type { Reporter, TestModule } from "vitest/node";

/** What one run came to. */
export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
  /** Files that never ended, because their process did. */
  readonly cut_off: string[];
}

/** Where the tally goes instead of onto the screen, for whoever runs Vitest more than once. */
export const tally_variable = "HANDFAST_TEST_TALLY";

export function closingLine({ passed, failed, skipped }: Omit<Tally, "cut_off">): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const tally: Tally = { passed: 0, failed: 0, skipped: 0, cut_off: [] };
    for (const module of modules) {
      const { passed, failed, skipped } = count(module);
      tally.failed += failed;
      if (module.state() === "pending" || module.state() === "queued") {
        tally.cut_off.push(relative(process.cwd(), module.moduleId));
      } else {
        tally.passed += passed;
        tally.skipped += skipped;
      }
    }
    // Of each file that was cut off, one error tells.
    tally.failed += Math.max(unhandled.length - tally.cut_off.length, 0);
    const path = env[tally_variable];
    if (path !== undefined) return writeFileSync(path, JSON.stringify(tally));
    for (const file of tally.cut_off) process.stdout.write(`The process of ${file} ended before its tests did.\n`);
    process.stdout.write(`\n${closingLine({ ...tally, failed: tally.failed + tally.cut_off.length })}\n`);
  }
}

function count(module: TestModule): Omit<Tally, "cut_off"> {
  const states = [...module.children.allTests()].map((test) => test.result().state);
  const passed = states.filter((state) => state === "passed").length;
  const failed = states.filter((state) => state === "failed").length;
  // A module that could not even be loaded has no tests to count, but it has failed.
  const broken = module.state() === "failed" && module.errors().length > 0 ? 1 : 0;
  return { passed, failed: failed + broken, skipped: states.length - passed - failed };
}
