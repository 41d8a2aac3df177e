/** A store that fails between two commits, while it moves its log or drops what is old: nobody is in a batch to notice. */

import { expect, test } from "vitest";
import { Bench, holder } from "./testing/bench.ts";

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

test("a commit that takes long costs nobody a lease: its beats could not be heard meanwhile", async () => {
  const bench = await Bench.open();
  await bench.accept();
  const leased = await bench.lease();
  await bench.ack(leased);
  bench.delayNextCommit(90_000);
  const slow = bench.accept();
  for (let n = 0; n < 9; n += 1) {
    await bench.surroundings.advance(10_000);
    void bench.perform(leased, { type: "beat", progress: null, ...holder(leased) });
  }
  await slow;
  await bench.surroundings.advance(20_000);
  expect(await bench.state(leased)).toBe("working");
});

test("it is recovered within a second when nobody asks for anything", async () => {
  const bench = await Bench.open();
  bench.failStore();
  await bench.surroundings.advance(1_000);
  expect(bench.recoveries).toEqual([true]);
  expect(bench.engine.state).toBe("running");
});

test("a worker that the failed batch left for the next one is served at once, though nobody asks for anything", async () => {
  const bench = await Bench.open({ limits: { deliveries_per_batch: 1 } });
  const [first, second, third] = ["one", "two", "three"].map((worker) => bench.claim({ worker, wait_ms: 60_000 }));
  const failed = expect(second).rejects.toMatchObject({ reason: "commit_unknown" });
  await bench.surroundings.rest();
  void first?.then(() => bench.failNextCommit("before"));
  await bench.engine.submit([bench.submission(), bench.submission(), bench.submission()]);
  await failed;
  expect(await third).toHaveLength(1);
  expect(bench.recoveries).toEqual([true]);
});

test("one that is away is looked for until it is back; whoever asks meanwhile is told so in time", async () => {
  const bench = await Bench.open();
  bench.loseStore(3);
  const asked = [bench.accept().catch((error: unknown) => error)];
  for (let tries = 0; tries < 3; tries += 1) {
    await bench.surroundings.rest();
    asked.push(bench.accept().catch((error: unknown) => error));
    await bench.surroundings.advance(10_000);
    await bench.surroundings.rest();
    expect(bench.engine.stats()).toMatchObject(
      tries < 2 ? { state: "recovering", trouble: "nobody answers there" } : {},
    );
  }
  const away = { code: 500, reason: "store_away" };
  expect(await Promise.all(asked)).toMatchObject([{ reason: "commit_unknown" }, away, away, away]);
  await bench.accept();
  expect(bench.recoveries).toEqual([true]);
});

test("one that is away does not keep the engine from stopping", async () => {
  const bench = await Bench.open();
  bench.loseStore(1_000);
  await expect(bench.accept()).rejects.toMatchObject({ reason: "commit_unknown" });
  const stopped = bench.engine.stop();
  await bench.surroundings.advance(10_000);
  await stopped;
  expect(bench.recoveries).toEqual([false]);
});
