/** Whoever speaks to one node is there for all of them. */

import { realSurroundings, type Store } from "@handfast/engine";
import { openPostgresStore } from "@handfast/store-postgres";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { startServer, type TestServer } from "../../../store-postgres/src/testing/server.ts";
import { limits as defaults } from "../limits.ts";
import { Schemas } from "../schemas/schemas.ts";
import { Directory } from "./directory.ts";

const namespace = "default";
/** From one node to another: passed on once, read once. */
const soon_ms = 2_000;

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

class Place {
  readonly directory: Directory;
  readonly store: Store;
  readonly asking: Set<string>;
  readonly warnings: unknown[];

  private constructor(directory: Directory, store: Store, asking: Set<string>, warnings: unknown[]) {
    this.directory = directory;
    this.store = store;
    this.asking = asking;
    this.warnings = warnings;
  }

  static async open(url: string): Promise<Place> {
    const store = await openPostgresStore(url, { may_lose: true, shared: true });
    const asking = new Set<string>();
    const warnings: unknown[] = [];
    if (store.sharing === undefined) throw new Error("not shared");
    const directory = await Directory.open({
      namespace,
      records: {
        load: (kind) => store.records(namespace, kind),
        find: (kind, key) => store.record(namespace, kind, key),
        put: async (records) => (await store.commit([{ writes: [], records }]))[0] === "ok",
      },
      schemas: new Schemas(),
      now: () => Date.now() + ahead_ms,
      limits: defaults,
      isAsking: (agent, worker) => asking.has(`${agent} ${worker}`),
      shared: { sharing: store.sharing, schedule: realSurroundings().schedule },
      warn: (about) => warnings.push(about),
    });
    return new Place(directory, store, asking, warnings);
  }

  async close(): Promise<void> {
    await this.directory.stop();
    await this.store.close();
    expect(this.warnings).toEqual([]);
  }
}

let ahead_ms: number;
let here: Place;
let there: Place;
beforeEach(async () => {
  ahead_ms = 0;
  const url = server.url(await server.createDatabase());
  here = await Place.open(url);
  await here.directory.change("bob", () => ({
    agent: { name: "bob", identity: null, keys: [], description: null, registered_at: Date.now(), registration: null },
    offers: { capabilities: [{ name: "research" }], lease_seconds: 60, signed: false },
    also: [],
  }));
  there = await Place.open(url);
});
afterEach(() => Promise.all([here, there].map((place) => place.close())));

const state = (place: Place) => place.directory.liveness("bob").state;
const soon = { timeout: soon_ms, interval: 20 };

it("a worker that spoke to one node is live on the other", async () => {
  expect(state(there)).toBe("idle");
  here.directory.seen("bob", "bob-1");
  await expect.poll(() => state(there), soon).toBe("live");
  expect(there.directory.agent("bob")?.workers.map(({ worker }) => worker)).toEqual(["bob-1"]);
});

it("one that waits at one node is live on the other, however long ago it began to, and until it stops", async () => {
  here.directory.seen("bob", "bob-1");
  here.asking.add("bob bob-1");
  await expect.poll(() => there.directory.isAsking("bob", "bob-1"), soon).toBe(true);
  expect(here.directory.isAsking("bob", "bob-1")).toBe(true);
  // Long after its last word, and long after its registration's lease.
  ahead_ms += 10 * 60_000;
  await expect.poll(() => there.directory.isAsking("bob", "bob-1"), soon).toBe(true);
  expect([state(there), there.directory.offering("research")]).toEqual(["live", 1]);
  here.asking.clear();
  await expect.poll(() => there.directory.isAsking("bob", "bob-1"), soon).toBe(false);
});

it("an agent that lapsed is back on every node when it speaks to one", async () => {
  ahead_ms += 10 * 60_000;
  const isOffered = (place: Place) =>
    place.directory.fit({ namespace, to: null, capability: "research" }, content).kind !== "absent";
  expect([isOffered(here), isOffered(there)]).toEqual([false, false]);
  here.directory.seen("bob", null);
  expect(isOffered(here)).toBe(true);
  await expect.poll(() => isOffered(there), soon).toBe(true);
});

it("nodes that write signs of life of the same agent leave each other's standing, and nobody complains", async () => {
  for (let turn = 0; turn < 6; turn += 1) {
    ahead_ms += 20_000;
    const [place, other] = turn % 2 === 0 ? [here, there] : [there, here];
    place.directory.seen("bob", "bob-1");
    const at = place.directory.agent("bob")?.last_seen_at ?? 0;
    await expect.poll(() => (other.directory.agent("bob")?.last_seen_at ?? 0) >= at, soon).toBe(true);
  }
  expect(state(here)).toBe("live");
  const stored = await here.store.record(namespace, "sign_of_life", "bob");
  expect(stored?.version).toBeGreaterThan(1);
});

const content = { media_type: "application/json", bytes: Buffer.from("{}") };
