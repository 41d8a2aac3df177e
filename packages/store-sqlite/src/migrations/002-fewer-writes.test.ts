import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Handoff } from "@handfast/core";
import type { Body, Store } from "@handfast/engine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { accept, deliver, purge, sampleBody, sampleHandoff, unit } from "../../../engine/src/store.samples.ts";
import { databaseName, openSqliteStore } from "../mod.ts";
import { initial } from "./001-initial.ts";

const ns = "default";
const own = sampleBody("handoff", 0);
const ack = sampleBody("ack", 1);
let root: string;
let old: DatabaseSync;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "handfast-migration-"));
  mkdirSync(join(root, "store"));
  old = new DatabaseSync(join(root, "store", databaseName));
  old.exec(`${initial}; PRAGMA user_version = 1`);
});
afterEach(() => rmSync(root, { recursive: true }));

/** As schema 1 wrote a queued handoff: every field of its state, its own body beside the others. */
function write(pos: number, { accepted, ...state }: Handoff, bodies: readonly Body[]): void {
  const { namespace, id, from, capability, accepted_at, idempotency_key, content } = accepted;
  old
    .prepare(
      `INSERT INTO handoffs (pos, namespace, id, sender, capability, detached, accepted_at, version, state, open, queue,
         rank, wake_at, untaken, json)
       VALUES (?, ?, ?, ?, ?, 0, ?, ?, 'queued', 1, 'capability:research', ?, ?, 0, ?)`,
    )
    .run(pos, namespace, id, from, capability, accepted_at, state.version, pos, pos, JSON.stringify(state));
  old.prepare("INSERT INTO accepted VALUES (?, ?)").run(pos, JSON.stringify(accepted));
  for (const { kind, number, document, proof, payload } of bodies) {
    old.prepare("INSERT INTO bodies VALUES (?, ?, ?, ?, ?, ?)").run(pos, kind, number, document, proof, payload);
  }
  old.prepare("INSERT INTO keys VALUES (?, ?, ?, ?, ?, NULL)").run(namespace, from, idempotency_key, id, content);
  const [event] = accept({ accepted, ...state }).events;
  old.prepare("INSERT INTO events VALUES (?, ?, ?, NULL, ?, ?)").run(pos, namespace, id, pos, JSON.stringify(event));
  old
    .prepare("INSERT INTO counts VALUES (?, ?, 'queued', 1) ON CONFLICT DO UPDATE SET number = number + 1")
    .run(namespace, from);
}

async function migrated(): Promise<Store> {
  old.close();
  return openSqliteStore({ directory: join(root, "store") });
}

const positions = async (store: Store) => {
  const { events, head, floor } = await store.events({ namespace: ns, after_pos: 0, limit: 10 });
  return { events: events.map(({ pos }) => pos), head, floor };
};

test("handoffs, bodies, keys, counts and the log are carried over, and go on", async () => {
  const [a, b] = [sampleHandoff("a"), sampleHandoff("b", { idempotency_key: "once", from: "carol" })];
  write(3, a, [own, ack]);
  write(4, b, []);
  const store = await migrated();

  expect(await store.load(ns, ["a", "b"])).toEqual([a, b]);
  expect(await store.bodies(ns, "a")).toEqual([own, ack]);
  expect(await store.body(ns, "a", "handoff", 0)).toEqual(own);
  expect(await store.body(ns, "b", "handoff", 0)).toBeNull();
  expect(await store.key(ns, "alice", "a")).toEqual({ id: "a", content: "content-of-a" });
  expect(await store.key(ns, "carol", "once")).toEqual({ id: "b", content: "content-of-b" });
  expect(await store.key(ns, "carol", "b")).toBeNull();
  expect(await store.counts(ns)).toEqual({ queued: 2 });
  expect(await store.openBySender()).toEqual([
    { namespace: ns, from: "alice", open: 1 },
    { namespace: ns, from: "carol", open: 1 },
  ]);
  expect(await positions(store)).toEqual({ events: [3, 4], head: 4, floor: 0 });

  expect(await store.commit([unit(deliver(a))])).toEqual(["ok"]);
  expect(await store.counts(ns)).toEqual({ queued: 1, delivered: 1 });
  expect(await positions(store)).toEqual({ events: [3, 4, 5], head: 5, floor: 0 });
  await store.close();
});

test("a key that outlives its handoff still does", async () => {
  old.prepare("INSERT INTO keys VALUES (?, 'alice', 'gone', 'gone', 'content-of-gone', 900)").run(ns);
  const store = await migrated();
  expect(await store.key(ns, "alice", "gone")).toEqual({ id: "gone", content: "content-of-gone" });
  expect(await store.wasPurged(ns, "gone")).toBe(true);
  expect(await store.prune(900, 0, 10)).toEqual({ events: 0, keys: 1 });
  expect(await store.key(ns, "alice", "gone")).toBeNull();
  await store.close();
});

test("a key of the old schema is limited by the purge of its handoff", async () => {
  const a = sampleHandoff("a");
  write(1, a, [own]);
  const store = await migrated();
  await store.commit([unit(purge(a, 900))]);
  expect(await store.key(ns, "alice", "a")).toEqual({ id: "a", content: "content-of-a" });
  expect(await store.prune(900, 0, 10)).toEqual({ events: 0, keys: 1 });
  await store.close();
});

test("positions of a log that was pruned empty are not given again", async () => {
  write(7, sampleHandoff("a"), []);
  old.exec(
    "DELETE FROM events; DELETE FROM handoffs; DELETE FROM accepted; DELETE FROM keys; UPDATE log SET floor = 7",
  );
  const store = await migrated();
  await store.commit([unit(accept(sampleHandoff("b")))]);
  expect(await positions(store)).toEqual({ events: [8], head: 8, floor: 7 });
  await store.close();
});
