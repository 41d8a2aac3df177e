/** What becomes of commits when the network or the server fails, and of positions when several nodes commit at once. */

import type { Store, Unit } from "@handfast/engine";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import {
  accept,
  change,
  deliver,
  end,
  purge,
  sampleBody,
  sampleHandoff,
  unit,
} from "../../engine/src/store.samples.ts";
import { still_there_pause_ms } from "./limits.ts";
import { openPostgresStore } from "./mod.ts";
import { startProxy } from "./testing/cutting-proxy.ts";
import { startServer, type TestServer } from "./testing/server.ts";

const ns = "default";
let server: TestServer;
beforeAll(async () => {
  // What a killed process wrote, the system still has: nothing here is about the disk.
  server = await startServer();
});
afterAll(() => server.stop());

async function throughProxy() {
  const proxy = await startProxy(server.port);
  opened.push(proxy);
  const store = await open(server.url(await server.createDatabase()).replace(`:${server.port}`, `:${proxy.port}`));
  await store.commit([unit(accept(sampleHandoff("before")))]);
  return { proxy, store };
}

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
});
const open = async (url: string): Promise<Store> => {
  const store = await openPostgresStore(url, { may_lose: true });
  opened.push(store);
  return store;
};
const idOf = async (store: Store, id: string) => (await store.load(ns, [id]))[0]?.accepted.id;

describe("a commit whose end nobody heard", () => {
  test.each(["commit", "answer"] as const)("the %s is lost: unknown, until the store is recovered", async (lost) => {
    const { proxy, store } = await throughProxy();
    proxy.cutNextCommit(lost);
    const unknown = { fault: "unknown", message: expect.stringContaining("unknown until the store is recovered") };
    await expect(store.commit([unit(accept(sampleHandoff("a")))])).rejects.toMatchObject(unknown);
    await expect(store.load(ns, ["a"])).rejects.toMatchObject(unknown);
    await expect(store.commit([unit(accept(sampleHandoff("b")))])).rejects.toMatchObject(unknown);
    await store.recover();
    expect(await idOf(store, "before")).toBe("before");
    expect(await idOf(store, "a")).toBe(lost === "answer" ? "a" : undefined);
    expect(await store.commit([unit(accept(sampleHandoff("a")))])).toEqual([lost === "answer" ? "conflict" : "ok"]);
    expect(await store.commit([unit(accept(sampleHandoff("b")))])).toEqual(["ok"]);
    expect((await store.events({ namespace: ns, after_pos: 0, limit: 9 })).events.map(({ pos }) => pos)).toEqual([
      1, 2, 3,
    ]);
  });
});

test("a commit that a synchronous standby has not confirmed is shown to nobody, also after its connection was lost", async () => {
  const own = await startServer();
  opened.push({ close: () => own.stop() });
  const database = await own.createDatabase();
  const proxy = await startProxy(own.port);
  opened.push(proxy);
  const other = await open(own.url(database));
  const store = await open(own.url(database).replace(`:${own.port}`, `:${proxy.port}`));
  await store.commit([unit(accept(sampleHandoff("before")))]);
  const expectStandby = async (names: string) => {
    await own.ask(database, `ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
    await own.ask(database, "SELECT pg_reload_conf()");
  };
  const waits = "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  const waitsForStandby = async () => (await own.ask(database, waits)).length > 0;
  await expectStandby("away");
  // The server takes the setting in its own time: at last one commit waits.
  let last = { id: "before", answer: Promise.resolve<unknown>(null), is_over: true };
  for (let nth = 1; !(await waitsForStandby()); ) {
    if (!last.is_over) continue;
    const next = { id: `after ${nth}`, is_over: false };
    const answer = store.commit([unit(accept(sampleHandoff(next.id)))]).catch((error: unknown) => error);
    last = Object.assign(next, { answer });
    answer.then(() => {
      next.is_over = true;
    });
    nth += 1;
  }
  proxy.cut();
  expect(await last.answer).toMatchObject({ fault: "unknown" });
  proxy.mend();
  await expect(store.recover()).rejects.toMatchObject({
    fault: "unconfirmed",
    is_away: true,
    message: expect.stringContaining("synchronous_standby_names"),
  });
  expect(await idOf(other, last.id)).toBeUndefined();
  await expectStandby("");
  await store.recover();
  expect(await idOf(store, last.id)).toBe(last.id);
  expect(await idOf(other, last.id)).toBe(last.id);
});

test("a server that is killed and comes back has all that was confirmed, and the store goes on by itself", async () => {
  const database = await server.createDatabase();
  const store = await open(server.url(database));
  const payload = new Uint8Array(10_000);
  const confirmed: string[] = [];
  let killed: Promise<void> | null = null;
  const submit = async () => {
    for (let n = 0; ; n += 1) {
      const bodies = [{ ...sampleBody("handoff", 0), payload }];
      await store.commit([unit(accept(sampleHandoff(`n-${n}`), { bodies }))]);
      confirmed.push(`n-${n}`);
      if (n === 30) killed = server.kill();
    }
  };
  await expect(submit()).rejects.toMatchObject({ fault: "unknown" });
  const recovered = store.recover();
  await killed;
  await server.start();
  await recovered;
  const found = await store.load(ns, confirmed);
  expect(found.map((handoff) => handoff?.accepted.id)).toEqual(confirmed);
  expect(await store.commit([unit(accept(sampleHandoff("after")))])).toEqual(["ok"]);
});

test("a role that may log in no more is away, and the store goes on by itself once it may again", async () => {
  const database = await server.createDatabase();
  await server.ask(database, `CREATE ROLE guest LOGIN; GRANT CREATE ON DATABASE ${database} TO guest`);
  const store = await open(server.url(database).replace("postgres@", "guest@"));
  await server.ask(database, "ALTER ROLE guest NOLOGIN");
  await server.ask(database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'guest'");
  await expect(store.commit([unit(accept(sampleHandoff("lost")))])).rejects.toMatchObject({ is_away: true });
  const recovered = store.recover();
  for (let time = 0; time < 3; time += 1) {
    const refused = server.client(database, "guest");
    await expect(refused`SELECT 1`).rejects.toMatchObject({ code: "28000" });
    await refused.end();
  }
  await server.ask(database, "ALTER ROLE guest LOGIN");
  await recovered;
  expect(await store.commit([unit(accept(sampleHandoff("after")))])).toEqual(["ok"]);
});

test("a read by a role that may log in no more says that the store is away", async () => {
  const database = await server.createDatabase();
  await server.ask(database, `CREATE ROLE reader LOGIN; GRANT CREATE ON DATABASE ${database} TO reader`);
  const store = await open(server.url(database).replace("postgres@", "reader@"));
  await server.ask(database, "ALTER ROLE reader NOLOGIN");
  await expect(idOf(store, "any")).rejects.toMatchObject({ is_away: true, message: expect.stringContaining("log in") });
});

test("a full disk rejects the commit; then there is no room for a while, and with room again work goes on", async () => {
  const database = await server.createDatabase();
  const store = await open(server.url(database));
  await server.ask(
    database,
    `CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
     CREATE TRIGGER refuse BEFORE INSERT ON handfast.accepted EXECUTE FUNCTION public.refuse()`,
  );
  await expect(store.commit([unit(accept(sampleHandoff("a")))])).rejects.toMatchObject({
    fault: "unknown",
    message: expect.stringContaining("Free some space"),
  });
  await server.ask(database, "DROP TRIGGER refuse ON handfast.accepted");
  await store.recover();
  expect((await store.space()).free_bytes).toBe(0);
  expect(await store.commit([unit(accept(sampleHandoff("a")))])).toEqual(["ok"]);
});

describe("several nodes on one database", () => {
  const nodes = async (count: number) => {
    const url = server.url(await server.createDatabase());
    return Promise.all(Array.from({ length: count }, () => open(url)));
  };

  test("of two that take the same key at once, one does", async () => {
    const stores = await nodes(2);
    for (let n = 0; n < 10; n += 1) {
      const results = await Promise.all(
        stores.map((store, nth) =>
          store.commit([unit(accept(sampleHandoff(`${n}-${nth}`, { idempotency_key: `k${n}` })))]),
        ),
      );
      expect(results.flat().toSorted()).toEqual(["conflict", "ok"]);
    }
  });

  test("of two that write the same record anew at once, one does", async () => {
    const stores = await nodes(2);
    for (let n = 0; n < 10; n += 1) {
      const record = { namespace: ns, kind: "k", key: `r${n}`, expected_version: 0, value: n };
      const results = await Promise.all(stores.map((store) => store.commit([{ writes: [], records: [record] }])));
      expect(results.flat().toSorted()).toEqual(["conflict", "ok"]);
    }
  });

  test("a key of a handoff that another node is purging in the same moment is not taken again", async () => {
    const database = await server.createDatabase();
    const url = server.url(database);
    const store = await openPostgresStore(url, { may_lose: true, shared: true });
    const other = await openPostgresStore(url, { may_lose: true, shared: true });
    opened.push(store, other);
    const ended = end(sampleHandoff("h1", { idempotency_key: "k" }), "completed", 200);
    for (const write of [accept(sampleHandoff("h1", { idempotency_key: "k" })), ended]) {
      expect(await other.commit([unit(write)])).toEqual(["ok"]);
    }
    // So that there are numbers, and it is written without a look.
    await store.commit([unit(accept(sampleHandoff("h0")))]);
    const log = server.client(database, "postgres");
    opened.push({ close: () => log.end() });
    const waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
    const waiting = async () => (await server.ask(database, waits)).length;
    // All of the purge is written but its place in the log.
    await log.unsafe("SELECT pg_advisory_lock(1751215716, 2)");
    const purged = other.commit([unit(purge(ended.next, ended.next.accepted.accepted_at + 1_000_000))]);
    while ((await waiting()) < 1);
    const taken = store.commit([unit(accept(sampleHandoff("h2", { idempotency_key: "k" })))]);
    let is_over = false;
    taken.then(() => {
      is_over = true;
    });
    while (!is_over && (await waiting()) < 2);
    await log.unsafe("SELECT pg_advisory_unlock(1751215716, 2)");
    expect(await purged).toEqual(["ok"]);
    expect(await taken).toEqual(["conflict"]);
  });

  test.each(["ended", "given to another"])(
    "a beat that is being committed while its lease is %s keeps it",
    async (what) => {
      const database = await server.createDatabase();
      const store = await open(server.url(database));
      const accepted = accept(sampleHandoff("h1"));
      const delivered = deliver(accepted.next);
      for (const write of [accepted, delivered]) expect(await store.commit([unit(write)])).toEqual(["ok"]);
      const heard = { fence: 1, at: delivered.next.accepted.accepted_at };
      const queued = change(delivered.next, { status: accepted.next.status });
      const ends = { ...(what === "ended" ? end(delivered.next, "expired", 408) : queued), heard };
      const writes = what === "ended" ? [ends] : [ends, deliver(queued.next, "carol", "carol-1")];
      const beating = server.client(database, "postgres");
      opened.push({ close: () => beating.end() });
      await beating.unsafe("BEGIN");
      await beating.unsafe(`UPDATE handfast.lease SET beat_fence = 1, beat_at = ${heard.at + 1}`);
      const committed = store.commit([{ writes, records: [] }]);
      const waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
      while ((await server.ask(database, waits)).length === 0);
      await beating.unsafe("COMMIT");
      expect(await committed).toEqual(["conflict"]);
      expect(await store.held(ns, "bob", "bob-1")).toEqual(["h1"]);
    },
  );

  test("whoever follows the log by position misses nothing, however commits overlap", async () => {
    const [reader, ...writers] = await nodes(4);
    if (reader === undefined) throw new Error("no reader");
    let writing = writers.length;
    const each = 40;
    const write = async (store: Store, nth: number) => {
      for (let n = 0; n < each; n += 1) {
        const units: Unit[] = [1, 2, 3].map((part) => unit(accept(sampleHandoff(`${nth}-${n}-${part}`))));
        expect(await store.commit(units)).toEqual(["ok", "ok", "ok"]);
      }
      writing -= 1;
    };
    const seen: number[] = [];
    const follow = async () => {
      for (let is_last = false; ; ) {
        const { events } = await reader.events({ namespace: ns, after_pos: seen.at(-1) ?? 0, limit: 7 });
        seen.push(...events.map(({ pos }) => pos));
        if (events.length === 0 && is_last) return;
        is_last = writing === 0;
      }
    };
    await Promise.all([follow(), ...writers.map(write)]);
    expect(seen).toEqual(Array.from({ length: writers.length * each * 3 }, (_, n) => n + 1));
  });
});

test("the log goes on over the end of a partition, and one that is past is dropped whole", async () => {
  const database = await server.createDatabase();
  const store = await open(server.url(database));
  const partitions = async () =>
    (await server.ask(database, "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r' ORDER BY 1")).map(
      ({ relname }) => relname,
    );
  await server.ask(database, "UPDATE handfast.log SET floor = 3999997");
  const at = (n: number) => 1_000 + n;
  for (let n = 0; n < 4; n += 1) {
    await store.commit([{ writes: [], records: [], entries: [entry(at(n))] }]);
  }
  const positions = async () =>
    (await store.events({ namespace: ns, after_pos: 0, limit: 9 })).events.map(({ pos }) => pos);
  expect(await positions()).toEqual([3_999_998, 3_999_999, 4_000_000, 4_000_001]);
  expect(await partitions()).toEqual(["event_0", "event_1", "event_2"]);
  expect(await store.prune(at(9), at(1), 100)).toEqual({ events: 1, keys: 0 });
  expect(await partitions()).toEqual(["event_0", "event_1", "event_2", "event_3"]);
  expect(await store.prune(at(9), at(2), 100)).toEqual({ events: 1, keys: 0 });
  expect(await partitions()).toEqual(["event_1", "event_2", "event_3"]);
  expect(await positions()).toEqual([4_000_000, 4_000_001]);
});

test("of two nodes that prune at once the slower does not lower the floor: no position is given twice", async () => {
  const database = await server.createDatabase();
  const both = await Promise.all(
    ["one", "other"].map(() => openPostgresStore(server.url(database), { may_lose: true, shared: true })),
  );
  opened.push(...both);
  const [one, other] = both;
  if (one === undefined || other === undefined) throw new Error("too few stores");
  for (let at = 1; at <= 4; at += 1) await one.commit([{ writes: [], records: [], entries: [entry(at)] }]);
  const client = server.client(database, "postgres");
  const locking = await client.reserve();
  const areWaiting = async (count: number) => {
    const waiting = "SELECT count(DISTINCT pid)::integer AS number FROM pg_locks WHERE NOT granted";
    while ((await server.ask(database, waiting))[0]?.["number"] !== count);
  };
  // Both have seen what is to go, and stand before the first event; the first of them goes on first, and is done before the second.
  await locking`BEGIN`;
  await locking`SELECT 1 FROM handfast.event WHERE pos = 1 FOR UPDATE`;
  const faster = one.prune(9, 5, 100);
  await areWaiting(1);
  const slower = other.prune(9, 3, 100);
  await areWaiting(2);
  await locking`ROLLBACK`;
  locking.release();
  await client.end();
  expect([(await faster).events, (await slower).events]).toEqual([4, 0]);
  expect(await one.events({ namespace: ns, after_pos: 0, limit: 9 })).toEqual({ events: [], floor: 4, head: 4 });
  await other.commit([{ writes: [], records: [], entries: [entry(5)] }]);
  expect(await one.sharing?.head()).toBe(5);
});

describe("while what is old is dropped, which may take a minute", () => {
  test("a network that swallows everything is noticed as soon as at a commit, also by the commit that waits behind it", async () => {
    const { proxy, store } = await throughProxy();
    const swallowed = proxy.swallowNextTransaction();
    const pruned = store.prune(9, 5, 100);
    const committed = store.commit([unit(accept(sampleHandoff("a")))]);
    const both = Promise.allSettled([pruned, committed]);
    await swallowed;
    const reason = expect.objectContaining({
      fault: "unknown",
      message: expect.stringContaining("until the store is recovered"),
    });
    expect(await both).toEqual(Array(2).fill({ status: "rejected", reason }));
    proxy.mend();
    await store.recover();
    expect(await store.commit([unit(accept(sampleHandoff("a")))])).toEqual(["ok"]);
  }, 40_000);

  test("a server that is slow, but there, is waited for", async () => {
    const database = await server.createDatabase();
    const store = await open(server.url(database));
    await store.commit([{ writes: [], records: [], entries: [entry(1)] }]);
    const client = server.client(database, "postgres");
    const locking = await client.reserve();
    await locking`BEGIN`;
    await locking`SELECT 1 FROM handfast.event FOR UPDATE`;
    let is_over = false;
    const pruned = store.prune(9, 5, 100).finally(() => {
      is_over = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 2 * still_there_pause_ms));
    expect(is_over).toBe(false);
    await locking`ROLLBACK`;
    locking.release();
    await client.end();
    expect((await pruned).events).toBe(1);
    expect(await store.commit([unit(accept(sampleHandoff("a")))])).toEqual(["ok"]);
  }, 40_000);
});

function entry(at: number) {
  return { namespace: ns, type: "looked", at, by: "alice", agents: ["bob"], capability: null } as const;
}
