/** A store that fails between two commits, while it moves its log or drops what is old: nobody is in a batch to notice. */

import { expect, test } from "vitest";
import { Bench } from "./testing/bench.ts";

test("the next command finds out: it is told so, the store is recovered, and the one after it succeeds", async () => {
  const bench = await Bench.open();
  const before = await bench.accept();
  bench.failStore();
  await expect(bench.accept()).rejects.toMatchObject({ code: 500, reason: "commit_unknown" });
  await bench.surroundings.rest();
  expect(bench.recoveries).toEqual([true]);
  await bench.accept();
  expect(await bench.state(before)).toBe("queued");
});

test("it is recovered within a second when nobody asks for anything", async () => {
  const bench = await Bench.open();
  bench.failStore();
  await bench.surroundings.advance(1_000);
  expect(bench.recoveries).toEqual([true]);
  expect(bench.engine.state).toBe("running");
});
