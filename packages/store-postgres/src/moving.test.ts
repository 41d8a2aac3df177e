/** A store that has lived is moved into another: whatever the first could be asked, the second answers the same. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Kept, KeptStore } from "@handfast/engine";
import { openSqliteKept, openSqliteStore } from "@handfast/store-sqlite";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { steps } from "../../core/src/testing/steps.ts";
import { openPostgresKept, openPostgresStore } from "./mod.ts";
import { everything } from "./testing/everything.ts";
import { RandomLife } from "./testing/random-life.ts";
import { startServer, type TestServer } from "./testing/server.ts";

let server: TestServer;
let folder: string;
beforeAll(async () => {
  server = await startServer();
  folder = mkdtempSync(join(tmpdir(), "handfast-moving-"));
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

async function all(rows: AsyncIterable<Kept>): Promise<readonly Kept[]> {
  const found: Kept[] = [];
  for await (const kept of rows) found.push(kept);
  return found;
}

async function move(from: KeptStore, to: KeptStore): Promise<readonly Kept[]> {
  const rows = await all(from.read());
  let written: readonly Kept[] = [];
  await to.fill(from.read(), async (back) => {
    written = await all(back);
  });
  expect(written).toEqual(rows);
  expect(await to.counts()).toEqual(await from.counts());
  await from.close();
  await to.close();
  return rows;
}

const day = 86_400_000;

test.each([{ forgotten: false }, { forgotten: true }])(
  "from SQLite to PostgreSQL and back, all answers stay (after retention: $forgotten)",
  async ({ forgotten }) => {
    const [first, last] = [`first-${forgotten}`, `last-${forgotten}`].map((name) => join(folder, name));
    const [directory = "", back = ""] = [first, last];
    const run = new RandomLife(await openSqliteStore({ directory }));
    await run.live(fc.sample(steps, { seed: 7, numRuns: 12 }).flat());
    if (forgotten) {
      await run.surroundings.stall(31 * day);
      await run.surroundings.advance(5 * 60_000);
      await run.live(fc.sample(steps, { seed: 8, numRuns: 4 }).flat());
    }
    const now = run.surroundings.now();
    await run.stop();
    const before = await everything(run.store, now);
    await run.store.close();
    expect(before.events.length).toBeGreaterThan(50);

    const url = server.url(await server.createDatabase());
    const rows = await move(
      await openSqliteKept(directory, "read"),
      await openPostgresKept(url, "fill", { may_lose: true }),
    );
    const tables = new Set(rows.map(({ table }) => table));
    expect([...tables]).toEqual(expect.arrayContaining(["log", "record", "handoff", "body", "event"]));
    if (forgotten) expect(tables).toContain("key");
    const moved = await openPostgresStore(url, { may_lose: true });
    expect(await everything(moved, now)).toEqual(before);
    await moved.close();

    await move(await openPostgresKept(url, "read", { may_lose: true }), await openSqliteKept(back, "fill"));
    const returned = await openSqliteStore({ directory: back });
    expect(await everything(returned, now)).toEqual(before);
    await returned.close();
  },
);

test("what is accepted after a move has a number of its own, and a place at the log's end", async () => {
  const directory = join(folder, "goes-on");
  const run = new RandomLife(await openSqliteStore({ directory }));
  const life = fc.sample(steps, { seed: 9, numRuns: 6 }).flat();
  await run.live(life);
  await run.stop();
  const { head } = await run.store.events({ namespace: "default", after_pos: 0, limit: 1 });
  await run.store.close();
  const url = server.url(await server.createDatabase());
  await move(await openSqliteKept(directory, "read"), await openPostgresKept(url, "fill", { may_lose: true }));
  const again = new RandomLife(await openPostgresStore(url, { may_lose: true }));
  await again.live(life);
  const after = await again.store.events({ namespace: "default", after_pos: head, limit: 1 });
  expect(after.events.map(({ pos }) => pos)).toEqual([head + 1]);
  await again.stop();
  await again.store.close();
});

test("positions far up the log find their partitions", async () => {
  const url = server.url(await server.createDatabase());
  const store = await openPostgresKept(url, "fill", { may_lose: true });
  const floor = 9_000_000;
  const event = { namespace: "default", handoff: "", correlation_id: null, at: 5, json: '{"by":"a","agents":[]}' };
  const rows: readonly Kept[] = [
    { table: "log", floor, latest: 4 },
    { table: "event", pos: floor + 1, ...event },
    { table: "event", pos: floor + 4_000_000, ...event },
  ];
  await store.fill(iterate(rows), async (back) => expect(await all(back)).toEqual(rows));
  await store.close();
});

test("a store that is not empty, in use, or not there is refused; where the look back finds fault nothing is written", async () => {
  const url = server.url(await server.createDatabase());
  await expect(openPostgresKept(url, "read", { may_lose: true })).rejects.toMatchObject({ fault: "missing" });
  expect(await server.ask(new URL(url).pathname.slice(1), "SELECT to_regnamespace('handfast') AS made")).toMatchObject([
    { made: null },
  ]);
  const store = await openPostgresKept(url, "fill", { may_lose: true });
  await expect(openPostgresKept(url, "fill", { may_lose: true })).rejects.toMatchObject({ fault: "in_use" });
  const record = { table: "record", namespace: "n", kind: "k", key: "r", version: 1, json: "1" } as const;
  const filled = store.fill(iterate([record]), () => Promise.reject(new Error("it differs")));
  await expect(filled).rejects.toThrow("it differs");
  expect(await all(store.read())).toEqual([{ table: "log", floor: 0, latest: 0 }]);
  await store.fill(iterate([record]), async () => {});
  await expect(store.fill(iterate([record]), async () => {})).rejects.toMatchObject({ fault: "not_empty" });
  await store.close();
});

async function* iterate(rows: readonly Kept[]): AsyncGenerator<Kept> {
  yield* rows;
}
