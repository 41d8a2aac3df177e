/** 50,000 handoffs under faults without a violation, and proof that the simulator can find one. */

import { expect, test } from "vitest";
import { mistakes } from "./mistakes.ts";
import { failureReport } from "./report.ts";
import { runSeeds } from "./run-seeds.ts";
import { runThreads } from "./run-threads.ts";
import { simulate } from "./simulate.ts";

const minutes = 60_000;

test("no promise is broken in 50,000 handoffs under faults, and every seed repeats itself", {
  timeout: 15 * minutes,
}, async () => {
  const { failure, handoffs } = await runThreads({ first: 1, seeds: 112, handoffs: 400 }, 2);
  expect(failure === null ? [] : failureReport(failure)).toEqual([]);
  expect(handoffs).toBeGreaterThanOrEqual(50_000);
});

test("no promise is broken in a quiet world, where a missed timer shows", { timeout: 5 * minutes }, async () => {
  const { failure } = await runThreads({ first: 10_001, seeds: 80, handoffs: 60 }, 2);
  expect(failure === null ? [] : failureReport(failure)).toEqual([]);
});

test("another seed gives another trace", async () => {
  const [one, two] = [await simulate({ seed: 1, handoffs: 20 }), await simulate({ seed: 2, handoffs: 20 })];
  expect(one.digest).not.toBe(two.digest);
});

test.each(Object.entries(mistakes))("it finds that %s", { timeout: 2 * minutes }, async (_, mistake) => {
  const { failure } = await runSeeds({ first: 1, seeds: 20, handoffs: 200 }, { mistake });
  expect(failure?.invariant).toBeTypeOf("string");
  expect(failure === null ? "" : failureReport(failure).at(-1)).toContain("npm run sim -- --seed");
});
