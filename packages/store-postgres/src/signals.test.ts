/** Signals between nodes: none while nobody is there to hear them, and one for what is committed as soon as somebody is. */

import type { NodeSign, RecordWrite, Sharing, Store } from "@handfast/engine";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openPostgresStore } from "./mod.ts";
import { startServer, type TestServer } from "./testing/server.ts";

let server: TestServer;
let database: string;
const opened: { close(): Promise<void> }[] = [];
beforeAll(async () => {
  server = await startServer();
  database = await server.createDatabase();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
  await server.emptyDatabase(database);
});
afterAll(() => server.stop());

async function open(): Promise<Store & { readonly sharing: Sharing }> {
  const store = await openPostgresStore(server.url(database), { may_lose: true, shared: true });
  opened.push(store);
  if (store.sharing === undefined) throw new Error("the store is not shared");
  return store as Store & { readonly sharing: Sharing };
}

const sign: NodeSign = {
  ...{ name: "n", version: "1", since: 0, draining: false, ended: false },
  ...{ connections: 0, calls: 0, claims: 0 },
};
let written = 0;
async function commit(store: Store): Promise<void> {
  written += 1;
  const record: RecordWrite = {
    namespace: "default",
    kind: "agent",
    key: `a${written}`,
    expected_version: 0,
    value: 1,
  };
  expect(await store.commit([{ writes: [], records: [record] }])).toEqual(["ok"]);
}

/** Everything that is said on the channel; `after` waits until what was said before it has been heard. */
async function listen(): Promise<{ readonly said: string[]; after(): Promise<void> }> {
  const sql = postgres(server.url(database), { max: 1, onnotice: () => {} });
  opened.push({ close: () => sql.end() });
  const said: string[] = [];
  await sql.listen("handfast", (payload) => said.push(payload));
  let onMark = () => {};
  await sql.listen("mark", () => onMark());
  const after = async () => {
    const heard = new Promise<void>((resolve) => {
      onMark = resolve;
    });
    await sql.notify("mark", "");
    await heard;
  };
  return { said, after };
}

test("a node that is alone sends none; one that begins makes itself heard, and hears what is committed from then on", async () => {
  const one = await open();
  const { said, after } = await listen();
  await one.sharing.nodes.sign(sign);
  await after();
  said.length = 0;
  for (let nth = 0; nth < 20; nth += 1) await commit(one);
  await after();
  expect(said).toEqual([]);

  const heard = new Promise<void>((resolve) => one.sharing.listen(() => resolve()));
  const other = await open();
  await heard;
  const told = new Promise<void>((resolve) => other.sharing.listen((_, { has_records }) => has_records && resolve()));
  // Whether or not the other has given a sign yet.
  await one.sharing.nodes.sign(sign);
  await commit(one);
  await told;
});

test("a node that is not alone sends one for what it commits", async () => {
  const [one, other] = [await open(), await open()];
  const { said, after } = await listen();
  await other.sharing.nodes.sign(sign);
  await one.sharing.nodes.sign(sign);
  await commit(one);
  await expect
    .poll(async () => after().then(() => said.some((each) => each.startsWith(one.sharing.nodes.life))))
    .toBe(true);
});
