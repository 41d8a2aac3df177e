/** The same seed gives the same world, another seed another one, and a difference would be noticed. */

import { expect, test } from "vitest";
import { Coverage } from "../coverage/coverage.ts";
import { failureOf, type SeedsOptions } from "./run-seeds.ts";
import { type Message, runThreads } from "./run-threads.ts";
import type { SimulationResult } from "./simulate.ts";
import { Tally } from "./tally.ts";

const options: SeedsOptions = { first: 7, seeds: 1, handoffs: 30, twice_every: null, trace: true };

async function traceOf(seed: number, patch: Partial<SeedsOptions> = {}): Promise<readonly string[]> {
  const lines: string[] = [];
  await runThreads({ ...options, first: seed, ...patch }, 1, (message: Message) => {
    if (message.type === "line") lines.push(message.line);
  });
  return lines;
}

test("one seed gives one trace, another seed another", async () => {
  const first = await traceOf(7);
  expect(first.length).toBeGreaterThan(100);
  expect(await traceOf(7)).toEqual(first);
  expect(await traceOf(8)).not.toEqual(first);
});

function result(digest: string): SimulationResult {
  return {
    seed: 7,
    weather: "fair",
    digest,
    handoffs: 30,
    virtual_ms: 0,
    drained_ms: 0,
    tally: new Tally(),
    coverage: new Coverage(),
    looks: new Map(),
    violation: null,
    tail: [],
  };
}

test("two runs of a seed that differ are a failure", () => {
  expect(failureOf(options, result("one"), result("one"))).toBeNull();
  expect(failureOf(options, result("one"), result("another"))?.invariant).toBe("a seed fixes everything");
});
