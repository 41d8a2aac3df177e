/** 215,000 handoffs under faults without a broken promise, everything that can be exercised exercised. */

import { expect, test } from "vitest";
import { failureReport, summary, verdictOf } from "./run/report.ts";
import type { SeedsOptions } from "./run/run-seeds.ts";
import { runThreads } from "./run/run-threads.ts";

const minutes = 60_000;
const threads = 2;

async function run(options: SeedsOptions) {
  const began = performance.now();
  const result = await runThreads(options, threads);
  return { result, lines: summary(result, performance.now() - began) };
}

test("no promise is broken in 215,000 handoffs under faults, and no reachable cell stays empty", {
  timeout: 90 * minutes,
}, async () => {
  const { result, lines } = await run({ first: 1, seeds: 10_000, handoffs: 500, total: 215_000, twice_every: 20 });
  process.stdout.write(`${lines.join("\n")}\n`);
  const { failure, empty, impossible, unlooked } = verdictOf(result);
  expect(failure === null ? [] : failureReport(failure)).toEqual([]);
  expect({ empty, impossible, unlooked }).toEqual({ empty: [], impossible: [], unlooked: [] });
  expect(result.handoffs).toBeGreaterThanOrEqual(215_000);
  expect(result.twice).toBeGreaterThan(0);
});

test("no promise is broken in a quiet world, where a missed timer shows, and every seed repeats itself", {
  timeout: 30 * minutes,
}, async () => {
  const { result } = await run({ first: 100_001, seeds: 80, handoffs: 40, twice_every: 1 });
  const { failure } = verdictOf(result);
  expect(failure === null ? [] : failureReport(failure)).toEqual([]);
  expect(result.twice).toBe(80);
});
