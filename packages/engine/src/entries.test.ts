/** Entries of the log that are of no handoff, through the engine. */

import { expect, test } from "vitest";
import { Bench } from "./testing/bench.ts";

const looked = {
  namespace: "default",
  type: "looked",
  by: "alice",
  agents: ["bob"],
  capability: "research",
} as const;

const entries = async ({ store }: Bench) => {
  const { events } = await store.events({ namespace: "default", after_pos: 0, limit: 100 });
  return events.map(({ json }) => JSON.parse(json));
};

test("an entry is in the log once it was answered, at the time of its commit", async () => {
  const bench = await Bench.open();
  await bench.surroundings.advance(5);
  expect(await bench.engine.note([looked])).toBe(true);
  expect(await entries(bench)).toEqual([{ ...looked, at: bench.engine.now() }]);
});

test("an entry and its records are committed together or not at all", async () => {
  const bench = await Bench.open();
  const record = { namespace: "default", kind: "k", key: "r", value: 1 };
  expect(await bench.engine.note([looked], [{ ...record, expected_version: 7 }])).toBe(false);
  expect(await entries(bench)).toEqual([]);
  expect(await bench.engine.note([looked], [{ ...record, expected_version: 0 }])).toBe(true);
  expect(await entries(bench)).toHaveLength(1);
  expect((await bench.store.record("default", "k", "r"))?.value).toBe(1);
});

test("an entry tells the time: no mark of the clock is written beside it", async () => {
  const bench = await Bench.open();
  await bench.engine.note([looked]);
  bench.commits.length = 0;
  await bench.engine.note([looked]);
  expect(bench.commits.flat().flatMap(({ records }) => records)).toEqual([]);
});

test("entries are refused like submits where space runs low", async () => {
  const bench = await Bench.open();
  await bench.setFreeBytes(0);
  await expect(bench.engine.note([looked])).rejects.toMatchObject({ code: 507 });
  expect(await entries(bench)).toEqual([]);
});
