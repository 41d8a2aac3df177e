/** The same seed gives the same world, another seed another one, and a difference would be noticed. */

import { expect, test } from "vitest";
import { Coverage } from "../coverage/coverage.ts";
import { type Failure, failureOf, type SeedsOptions, Sum } from "./run-seeds.ts";
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

function failure(seed: number): Failure {
  const how = { handoffs: 30, without: [], mistake: null } as const;
  return { seed, ...how, invariant: "seq is dense", about: "sim", message: "", tail: [] };
}

test("of several failures the lowest seed's is told", () => {
  const sum = new Sum();
  for (const seed of [8, 3, 5]) sum.add({ ...result("one"), seed }, false, failure(seed));
  expect(sum.failure?.seed).toBe(3);
});

test("several threads find the failure that one would have found", { timeout: 300_000 }, async () => {
  const hunted: SeedsOptions = { first: 1, seeds: 8, handoffs: 200, twice_every: null, mistake: "keys-in-memory" };
  const one = await runThreads(hunted, 1);
  expect(one.failure).not.toBeNull();
  expect((await runThreads(hunted, 4)).failure).toEqual(one.failure);
});
