/** What a node asks its server for, as it is said on the wire. */

import type { Store, Write } from "@handfast/engine";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { accept, acknowledge, deliver, end, sampleHandoff, unit } from "../../engine/src/store.samples.ts";
import { begin } from "./commit.ts";
import { numbers_at_once } from "./limits.ts";
import { openPostgresStore } from "./mod.ts";
import { followEvents } from "./sql/event.ts";
import { takeNumbers } from "./sql/handoff.ts";
import { type Overhearing, overhear } from "./testing/overhearing.ts";
import { startServer, type TestServer } from "./testing/server.ts";

let server: TestServer;
let database: string;
let wire: Overhearing;
/** By the wire that is listened to. */
let store: Store;
beforeAll(async () => {
  server = await startServer();
  database = await server.createDatabase();
});
beforeEach(async () => {
  wire = await overhear(server.port);
  store = await open(server.url(database).replace(`:${server.port}/`, `:${wire.port}/`));
});
afterEach(async () => {
  await store.close();
  await wire.close();
  await server.emptyDatabase(database);
});
afterAll(() => server.stop());

function open(url: string): Promise<Store> {
  return openPostgresStore(url, { may_lose: true, shared: true });
}

/** What was said on the connection that writes, for a commit of these. */
async function committing(...writes: readonly Write[]): Promise<readonly string[]> {
  const before = wire.heard.length;
  expect(new Set(await store.commit(writes.map((write) => unit(write))))).toEqual(new Set(["ok"]));
  const asked = wire.heard.slice(before);
  const writing = asked.find(({ statement }) => statement.includes("handfast.append("))?.connection;
  return asked.filter(({ connection }) => connection === writing).map(({ statement }) => statement);
}

function fresh(name: string, count: number): readonly Write[] {
  return Array.from({ length: count }, (_, nth) => accept(sampleHandoff(`${name} ${nth}`)));
}

test("a commit of what is new, or was written here last, is one statement, unless numbers are taken with it", async () => {
  const steps = ["accepted", "delivered", "acknowledged", "ended"] as const;
  const plain = new Map<string, readonly string[]>();
  // Numbers are taken as time passes: on a slow machine with one commit or another, but not always with the same.
  for (let life = 0; plain.size < steps.length && life < 50; life += 1) {
    const accepted = accept(sampleHandoff(`h${life}`));
    const delivered = deliver(accepted.next);
    const acknowledged = acknowledge(delivered.next);
    const writes = { accepted, delivered, acknowledged, ended: end(acknowledged.next, "completed", 200) };
    for (const step of steps) {
      const said = await committing(writes[step]);
      if (said.includes(takeNumbers)) continue;
      plain.set(step, said);
      expect([step, said]).toEqual([step, [expect.stringContaining("handfast.append(")]]);
    }
  }
  expect([...plain.keys()].sort()).toEqual([...steps].sort());
});

test("numbers for new handoffs are taken within the transaction of a commit, which needs no other for them", async () => {
  await committing(...fresh("first", 1));
  let taken = 0;
  for (const name of ["second", "third", "fourth"]) {
    // More than half of what is taken ahead: so many have to be taken anew.
    const said = await committing(...fresh(name, numbers_at_once / 2 + 1));
    taken += said.filter((statement) => statement === takeNumbers).length;
    expect(said.filter((statement) => statement === begin || statement === "COMMIT")).toEqual([begin, "COMMIT"]);
    expect([said[0], said.at(-1)]).toEqual([begin, "COMMIT"]);
  }
  expect(taken).toBeGreaterThanOrEqual(3);
});

test("a node does not read back from the log what it wrote itself", async () => {
  const other = await open(server.url(database));
  onTestFinished(() => other.close());
  const commit = async (by: Store, name: string, count: number) =>
    expect(await by.commit(fresh(name, count).map((write) => unit(write)))).toHaveLength(count);
  await commit(store, "own", 3);
  await commit(other, "another's", 2);
  await commit(store, "own again", 4);
  await commit(other, "another's again", 1);
  const logged = (await other.sharing?.follow(0, 100)) ?? [];
  const followed = (await store.sharing?.follow(0, 100)) ?? [];
  expect(logged).toHaveLength(10);
  const told = ({ pos, json }: { readonly pos: number; readonly json: string }) => [pos, json];
  expect(followed.map(told)).toEqual(logged.map(told));
  const read = wire.heard.filter(({ statement }) => statement === followEvents).map(({ rows }) => rows);
  expect(read).toEqual([3]);
});
