import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Store } from "@handfast/engine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { accept, change, deliver, end, purge, sampleHandoff, unit } from "../../engine/src/store.samples.ts";
import { openWriter } from "./connection.ts";
import type { Sync } from "./log-sync.ts";
import { migrations } from "./migrations/mod.ts";
import { databaseName, openSqliteStore } from "./mod.ts";

const ns = "default";
let root: string;
let directory: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "handfast-durability-"));
  directory = join(root, "store");
});
afterEach(() => rmSync(root, { recursive: true }));

const databaseFile = () => join(directory, databaseName);
const modeOf = (path: string) => statSync(path).mode & 0o777;

describe("the lock", () => {
  test("a second store on the same directory is refused, with the directory and what to do", async () => {
    const store = await openSqliteStore({ directory });
    await expect(openSqliteStore({ directory })).rejects.toMatchObject({
      fault: "in_use",
      message: expect.stringMatching(new RegExp(`${directory}.*in use.*Stop that one`)),
    });
    await store.commit([unit(accept(sampleHandoff("a")))]);
    await store.close();
    await (await openSqliteStore({ directory })).close();
  });

  test("it holds between processes and dies with a process that is killed; what that one committed is there", async () => {
    const script = join(root, "holder.ts");
    writeFileSync(
      script,
      `import { openSqliteStore } from ${JSON.stringify(import.meta.resolve("./mod.ts"))};
       import { accept, sampleHandoff, unit } from ${JSON.stringify(import.meta.resolve("../../engine/src/store.samples.ts"))};
       const store = await openSqliteStore({ directory: ${JSON.stringify(directory)} });
       await store.commit([unit(accept(sampleHandoff("a")))]);
       console.log("committed");
       setInterval(() => {}, 1000);`,
    );
    const holder = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      await once(holder.stdout, "data");
      await expect(openSqliteStore({ directory })).rejects.toMatchObject({ fault: "in_use" });
    } finally {
      holder.kill("SIGKILL");
    }
    await once(holder, "exit");
    const store = await openSqliteStore({ directory });
    expect(await store.load(ns, ["a"])).toMatchObject([{ version: 1 }]);
    await store.close();
  });
});

describe("opening", () => {
  test("NORMAL and WAL are set on every open, also where the file was left otherwise", async () => {
    await (await openSqliteStore({ directory })).close();
    const careless = new DatabaseSync(databaseFile());
    careless.exec("PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF");
    careless.close();
    const connection = openWriter(databaseFile());
    expect(connection.get("PRAGMA synchronous")).toMatchObject({ synchronous: 1 });
    expect(connection.get("PRAGMA journal_mode")).toMatchObject({ journal_mode: "wal" });
    connection.close();
  });

  test("a database that cannot be made durable is refused", () => {
    expect(() => openWriter(":memory:")).toThrow(/journal_mode = memory.*does not start/);
  });

  test("the directory and every file in it are for the owner alone, also after a laxer copy", async () => {
    mkdirSync(directory, { mode: 0o755 });
    writeFileSync(databaseFile(), "", { mode: 0o644 });
    const store = await openSqliteStore({ directory });
    await store.commit([unit(accept(sampleHandoff("a")))]);
    const backup = join(root, "backup.db");
    await store.backup(backup);
    expect(modeOf(directory)).toBe(0o700);
    for (const name of ["handfast.db", "handfast.db-wal", "handfast.db-shm", "handfast.lock"]) {
      expect([name, modeOf(join(directory, name))]).toEqual([name, 0o600]);
    }
    expect(modeOf(backup)).toBe(0o600);
    await store.close();
  });

  test("a file that is no database is refused with what to do, and left as it was", async () => {
    mkdirSync(directory);
    const file = databaseFile();
    writeFileSync(file, "not a database at all, but long enough to have a header of some sort".repeat(20));
    const damaged = { fault: "damaged", message: expect.stringMatching(/handfast\.db is damaged.*restore a backup/) };
    await expect(openSqliteStore({ directory })).rejects.toMatchObject(damaged);
    expect(readFileSync(file, "utf8")).toMatch(/^not a database/);
  });

  test("a database of a newer version is refused and left as it was", async () => {
    await (await openSqliteStore({ directory }, { migrations: [...migrations, "CREATE TABLE later (x)"] })).close();
    const known = migrations.length;
    const told = new RegExp(`schema ${known + 1}.*up to ${known}.*newer version`);
    const newer = { fault: "too_new", message: expect.stringMatching(told) };
    await expect(openSqliteStore({ directory })).rejects.toMatchObject(newer);
    await expect(openSqliteStore({ directory })).rejects.toMatchObject(newer);
  });

  test("a database of an earlier version is brought forward with its content", async () => {
    const old = await openSqliteStore({ directory });
    await old.commit([unit(accept(sampleHandoff("a")))]);
    await old.close();
    const store = await openSqliteStore(
      { directory },
      { migrations: [...migrations, "CREATE TABLE later (x); INSERT INTO later VALUES (1)"] },
    );
    expect(await store.load(ns, ["a"])).toMatchObject([{ version: 1 }]);
    await store.close();
    const db = new DatabaseSync(databaseFile());
    expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: migrations.length + 1 });
    expect(db.prepare("SELECT x FROM later").all()).toEqual([{ x: 1 }]);
    db.close();
  });

  test("a step that fails leaves the schema before it", async () => {
    await (await openSqliteStore({ directory })).close();
    const broken = [...migrations, "CREATE TABLE later (x); INSERT INTO nowhere VALUES (1)"];
    await expect(openSqliteStore({ directory }, { migrations: broken })).rejects.toThrow(/nowhere/);
    await (await openSqliteStore({ directory })).close();
  });
});

describe("a failed commit", () => {
  test("rejects, and so does everything after it until the store is recovered", async () => {
    const store = await openSqliteStore({ directory });
    const handoff = sampleHandoff("a");
    await store.commit([unit(accept(handoff))]);
    // A foreign writer that never lets go: the commit cannot begin.
    const foreign = new DatabaseSync(databaseFile());
    foreign.exec("BEGIN IMMEDIATE");
    await expect(store.commit([unit(deliver(handoff))])).rejects.toMatchObject({ fault: "unknown" });
    foreign.close();
    await expect(store.load(ns, ["a"])).rejects.toMatchObject({ fault: "unknown" });
    await expect(store.commit([unit(deliver(handoff))])).rejects.toMatchObject({ fault: "unknown" });
    await expect(store.list({ namespace: ns, order: "newest", limit: 1 })).rejects.toMatchObject({ fault: "unknown" });
    await store.recover();
    expect(await store.load(ns, ["a"])).toEqual([handoff]);
    expect(await store.commit([unit(deliver(handoff))])).toEqual(["ok"]);
    await store.close();
  });

  test("leaves nothing of the batch behind, in memory too", async () => {
    const store = await openSqliteStore({ memory: true });
    const handoff = sampleHandoff("a");
    const eventless = { ...accept(sampleHandoff("b")), events: [] };
    await expect(store.commit([unit(accept(handoff)), unit(eventless)])).rejects.toThrow(/accept event/);
    await store.recover();
    expect(await store.load(ns, ["a", "b"])).toEqual([null, null]);
    expect(await store.commit([unit(accept(handoff))])).toEqual(["ok"]);
    expect((await store.events({ namespace: ns, after_pos: 0, limit: 9 })).head).toBe(1);
    expect(await store.counts(ns)).toEqual({ queued: 1 });
    await store.close();
  });

  test("a store that failed can be closed", async () => {
    const store = await openSqliteStore({ memory: true });
    await expect(store.commit([unit({ ...accept(sampleHandoff("b")), events: [] })])).rejects.toThrow();
    await store.close();
  });
});

describe("while a commit is being synced", () => {
  /** A store whose syncs, from its opening on, end when they are told to. */
  async function open() {
    const running: ((error: Error | null) => void)[] = [];
    const store = await openSqliteStore({ directory }, { sync: (_, done) => void running.push(done) });
    return { store, end: (error: Error | null) => running.shift()?.(error) };
  }
  const reads = {
    "by its id": (store: Store) => store.load(ns, ["a"]),
    "in a list": (store: Store) => store.list({ namespace: ns, order: "newest", limit: 1 }),
    "in the log": (store: Store) => store.events({ namespace: ns, after_pos: 0, limit: 1 }),
    "in the counts": (store: Store) => store.counts(ns),
    "in a backup": (store: Store) => store.backup(join(root, "copy.db")),
  };

  test.each(Object.entries(reads))("what is read of it %s is told after that", async (_, read) => {
    const { store, end } = await open();
    const told: string[] = [];
    const committed = store.commit([unit(accept(sampleHandoff("a")))]).then(() => told.push("commit"));
    const seen = read(store).then(() => told.push("read"));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(told).toEqual([]);
    end(null);
    await Promise.all([committed, seen]);
    expect(told).toEqual(["commit", "read"]);
    await store.close();
  });

  test.each(Object.entries(reads))("what is read of it %s is not told if that fails", async (_, read) => {
    const { store, end } = await open();
    const committed = store.commit([unit(accept(sampleHandoff("a")))]);
    const outcomes = Promise.allSettled([committed, read(store)]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    end(new Error("EIO"));
    const unknown = { status: "rejected", reason: { fault: "unknown" } };
    expect(await outcomes).toMatchObject([unknown, unknown]);
    await expect(store.load(ns, ["a"])).rejects.toMatchObject({ fault: "unknown" });
    await store.recover();
    expect(await store.load(ns, ["a"])).toMatchObject([{ version: 1 }]);
    await store.close();
  });
});

test("a commit is not confirmed by a sync that began before it", async () => {
  const running: ((error: Error | null) => void)[] = [];
  const store = await openSqliteStore({ directory }, { sync: (_, done) => void running.push(done) });
  const told: string[] = [];
  const commit = (id: string) => store.commit([unit(accept(sampleHandoff(id)))]).then(() => told.push(id));
  const [first, second] = [commit("a"), commit("b")];
  running.shift()?.(null);
  await first;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(told).toEqual(["a"]);
  running.shift()?.(null);
  await second;
  await store.close();
});

test("what retention drops is synced; where it drops nothing, there is nothing to sync", async () => {
  let syncs = 0;
  const sync: Sync = (_, done) => {
    syncs += 1;
    done(null);
  };
  const store = await openSqliteStore({ directory }, { sync });
  const accepted = accept(sampleHandoff("a"));
  const ended = end(accepted.next, "completed", 200);
  for (const write of [accepted, ended, purge(ended.next, 5)]) await store.commit([unit(write)]);
  expect(await store.prune(4, 0, 10)).toEqual({ events: 0, keys: 0 });
  expect(syncs).toBe(3);
  expect(await store.prune(5, 0, 10)).toEqual({ events: 0, keys: 1 });
  expect(syncs).toBe(4);
  await store.close();
});

test("a store that is closed while it recovers is closed, and its lock is free only then", async () => {
  const store = await openSqliteStore({ directory });
  const told: string[] = [];
  const recovered = store.recover().then(() => told.push("recovered"));
  const closed = store.close().then(() => told.push("closed"));
  await expect(openSqliteStore({ directory })).rejects.toMatchObject({ fault: "in_use" });
  await Promise.all([recovered, closed]);
  expect(told).toEqual(["recovered", "closed"]);
  await (await openSqliteStore({ directory })).close();
});

describe("backup", () => {
  test("under load it is consistent, tells its progress and holds all that was committed before it", async () => {
    const store = await openSqliteStore({ directory });
    let written = 0;
    const writeSome = async () => {
      const writes = Array.from({ length: 50 }, (_, n) => accept(sampleHandoff(`n-${written + n}`)));
      await store.commit(writes.map((write) => unit(write, deliver(write.next))));
      written += writes.length;
    };
    while (written < 3_000) await writeSome();
    const before = written;
    const steps: [number, number][] = [];
    const copied = join(root, "restored", databaseName);
    mkdirSync(join(root, "restored"));
    let running = true;
    const backup = store
      .backup(copied, (done, total) => steps.push([done, total]))
      .finally(() => {
        running = false;
      });
    while (running) {
      await writeSome();
      await new Promise(setImmediate);
    }
    await backup;
    expect(written).toBeGreaterThan(before);
    await store.close();

    expect(steps.length).toBeGreaterThan(1);
    expect(steps.every(([done, total]) => done >= 0 && done <= total)).toBe(true);
    const raw = new DatabaseSync(copied);
    expect(raw.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
    raw.close();
    const copy = await openSqliteStore({ directory: join(root, "restored") });
    const { delivered = 0 } = await copy.counts(ns);
    expect(delivered).toBeGreaterThanOrEqual(before);
    expect(delivered % 50).toBe(0);
    expect((await copy.events({ namespace: ns, after_pos: 0, limit: 100_000 })).events).toHaveLength(delivered * 2);
    await copy.close();
  });

  test("never overwrites a file", async () => {
    const store = await openSqliteStore({ memory: true });
    const path = join(root, "precious.txt");
    writeFileSync(path, "precious");
    await expect(store.backup(path)).rejects.toMatchObject({ fault: "exists", message: expect.stringContaining(path) });
    expect(statSync(path).size).toBe(8);
    await store.close();
  });
});

test("the write-ahead log stays bounded under steady load", async () => {
  const store = await openSqliteStore({ directory });
  for (let batch = 0; batch < 150; batch += 1) {
    const writes = Array.from({ length: 100 }, (_, n) => accept(sampleHandoff(`n-${batch}-${n}`)));
    await store.commit(writes.map((write) => unit(write)));
  }
  const log = statSync(`${databaseFile()}-wal`).size;
  expect(log).toBeLessThan(32 * 1024 * 1024);
  await store.close();
});

test("a list answers while commits go on, and sees each commit before it", async () => {
  const store = await openSqliteStore({ directory });
  let handoff = sampleHandoff("a");
  await store.commit([unit(accept(handoff))]);
  for (let n = 0; n < 50; n += 1) {
    const write = change(handoff);
    await store.commit([unit(write)]);
    handoff = write.next;
    const page = await store.list({ namespace: ns, order: "newest", limit: 1 });
    expect(page.handoffs).toEqual([handoff]);
  }
  await store.close();
});
