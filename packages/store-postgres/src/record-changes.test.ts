/** What other nodes made of records: which ones, in order, and when that is not known any more. */

import type { RecordWrite, Sharing, Store } from "@handfast/engine";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openPostgresKept, openPostgresStore } from "./mod.ts";
import { startServer, type TestServer } from "./testing/server.ts";

let server: TestServer;
let database: string;
const opened: Store[] = [];
beforeAll(async () => {
  server = await startServer();
  database = await server.createDatabase();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
  await server.emptyDatabase(database);
});
afterAll(() => server.stop());

async function open(): Promise<Store & { readonly sharing: Sharing }> {
  const store = await openPostgresStore(server.url(database), { may_lose: true, shared: true });
  opened.push(store);
  if (store.sharing === undefined) throw new Error("the store is not shared");
  return store as Store & { readonly sharing: Sharing };
}

const name = (key: string) => ({ namespace: "default", kind: "agent", key });
const write = (key: string, expected_version: number, value: unknown): RecordWrite => ({
  ...name(key),
  expected_version,
  value,
});
const put = (store: Store, ...records: RecordWrite[]) => store.commit([{ writes: [], records }]);

test("a node is told which records others wrote and deleted, not which it wrote itself", async () => {
  const [one, other] = [await open(), await open()];
  const after = await other.sharing.recordHead();
  await put(one, write("a", 0, 1), write("b", 0, 1));
  await put(other, write("c", 0, 1));
  await put(one, write("a", 1, 2));
  await put(one, write("b", 1, undefined));
  const changed = await other.sharing.changedRecords(after, 100);
  expect(changed?.names).toEqual(["a", "b", "a", "b"].map(name));
  expect(changed?.after).toBe(await other.sharing.recordHead());
  expect(await other.sharing.changedRecords(changed?.after ?? 0, 100)).toMatchObject({ names: [] });
  const named = await other.sharing.namedRecords(["a", "b", "c"].map(name));
  expect(named.toSorted((x, y) => (x.key < y.key ? -1 : 1))).toEqual([
    { ...name("a"), version: 2, value: 2 },
    { ...name("c"), version: 1, value: 1 },
  ]);
});

test("a commit that conflicts changes nothing and tells nobody", async () => {
  const [one, other] = [await open(), await open()];
  await put(one, write("a", 0, 1));
  const after = await one.sharing.recordHead();
  expect(await put(other, write("a", 0, 2))).toEqual(["conflict"]);
  expect(await one.sharing.changedRecords(after, 100)).toEqual({ names: [], after, is_cut: false });
});

test("page by page, while several nodes write at once, nothing is passed over", async () => {
  const [one, other, third] = [await open(), await open(), await open()];
  let after = await third.sharing.recordHead();
  const all = Array.from({ length: 60 }, (_, n) => `key ${String(n).padStart(2, "0")}`);
  let is_written = false;
  const written = Promise.all(all.map((key, n) => put(n % 2 === 0 ? one : other, write(key, 0, n)))).then(() => {
    is_written = true;
  });
  const seen: string[] = [];
  for (;;) {
    const was_written = is_written;
    const changed = await third.sharing.changedRecords(after, 7);
    if (changed === null) throw new Error("a gap");
    seen.push(...changed.names.map(({ key }) => key));
    after = changed.after;
    if (was_written && !changed.is_cut) break;
  }
  await written;
  expect(seen.sort()).toEqual(all);
});

test("whoever was away for longer than changes are kept is told to read everything", async () => {
  const [one, other] = [await open(), await open()];
  const after = await other.sharing.recordHead();
  await put(one, write("a", 0, 1));
  await put(one, write("b", 0, 1));
  await server.ask(database, "UPDATE handfast.record_change SET at = at - interval '1 day'");
  await one.prune(0, 0, 100);
  expect(await other.sharing.changedRecords(after, 100)).toBeNull();
  // Where the next one stands is still known.
  const head = await other.sharing.recordHead();
  await put(one, write("c", 0, 1));
  expect(await other.sharing.changedRecords(head, 100)).toEqual({ names: [name("c")], after: head + 1, is_cut: false });
});

test("a database put back from a copy, whose changes end before: everything is to be read", async () => {
  const one = await open();
  expect(await one.sharing.changedRecords(1_000, 100)).toBeNull();
});

test("nodes share a database with each other, and not with somebody who works on it alone", async () => {
  const url = server.url(database);
  await open();
  await open();
  await expect(openPostgresKept(url, "read", { may_lose: true })).rejects.toMatchObject({ fault: "in_use" });
  await Promise.all(opened.splice(0).map((store) => store.close()));
  const alone = await openPostgresKept(url, "read", { may_lose: true });
  await expect(open()).rejects.toMatchObject({ fault: "in_use" });
  await alone.close();
});
