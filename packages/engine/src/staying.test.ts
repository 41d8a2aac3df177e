/** Work that came to a node is left to its own workers for a moment, where one of them asks for such work. */

import { coreLimits, queueOf } from "@handfast/core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { accept, sampleHandoff, unit } from "./store.samples.ts";
import { SharedBench } from "./testing/shared-bench.ts";

const { stays_ms } = coreLimits;

let bench: SharedBench;
beforeEach(async () => {
  bench = await SharedBench.open();
});
afterEach(async () => {
  await bench.close();
  expect(bench.bugs).toEqual([]);
});

/** What a worker of another node could be given now. */
async function foundElsewhere(): Promise<readonly string[]> {
  const queues = ["asked", "unasked"].map((capability) => queueOf({ to: null, capability }));
  const query = { namespace: "default", queues, agent: "", limit: 9, stays_ms };
  const found = await bench.answered(bench.other.candidates(query));
  await bench.answered(bench.other.commit([]));
  return found.map(({ id }) => id);
}

test("of handoffs that are accepted together those stay that somebody here asks for, and only those", async () => {
  await bench.claim("asked");
  const [, left] = await bench.submit(["asked", "unasked"]);
  expect(await foundElsewhere()).toEqual([left]);
});

test("of handoffs that are accepted in one batch by several submits those stay that somebody here asks for, and only those", async () => {
  await bench.claim("asked");
  const [, [left]] = await Promise.all([bench.submit(["asked"]), bench.submit(["unasked"])]);
  expect(await foundElsewhere()).toEqual([left]);
});

test("what stayed is anybody's once its moment is over", async () => {
  await bench.claim("asked");
  const [stayed] = await bench.submit(["asked"]);
  await bench.advance(stays_ms);
  expect(await foundElsewhere()).toEqual([]);
  await bench.advance(1);
  expect(await foundElsewhere()).toEqual([stayed]);
});

test("a worker that left is likely to ask again for a moment, and then no more", async () => {
  await bench.claim("asked");
  await bench.advance(stays_ms - 1);
  await bench.submit(["asked"]);
  expect(await foundElsewhere()).toEqual([]);
  await bench.advance(1);
  const [left] = await bench.submit(["asked"]);
  expect(await foundElsewhere()).toEqual([left]);
});

test("a worker that waits is asking, however long it does, and what it has no slot for stays as well", async () => {
  const waiting = bench.claim("asked", { wait_ms: 600_000 });
  await bench.advance(10 * stays_ms);
  const [given] = await bench.submit(["asked", "asked"]);
  expect((await waiting).map(({ accepted }) => accepted.id)).toEqual([given]);
  expect(await foundElsewhere()).toEqual([]);
});

test("what stays with another node is given here only once its moment is over", async () => {
  const { now } = bench.timeline;
  const staying = accept(sampleHandoff("staying", { capability: "asked", accepted_at: now }));
  await bench.answered(bench.other.commit([unit({ ...staying, stays: true })]));
  await bench.advance(1);
  const given = await bench.claim("asked", { wait_ms: 600_000 });
  expect(given.map(({ accepted }) => accepted.id)).toEqual(["staying"]);
  expect(bench.timeline.now - now).toBeGreaterThan(stays_ms);
  expect(bench.timeline.now - now).toBeLessThan(2 * stays_ms);
});
