import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type Handoff, laneOf } from "@handfast/core";
import type { Store } from "@handfast/engine";
import { afterEach, beforeEach, expect, test } from "vitest";
import { deliver, sampleHandoff, unit } from "../../../engine/src/store.samples.ts";
import { databaseName, openSqliteStore } from "../mod.ts";
import { migrations } from "./mod.ts";

const ns = "default";
let root: string;
let old: DatabaseSync;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "handfast-migration-"));
  mkdirSync(join(root, "store"));
  old = new DatabaseSync(join(root, "store", databaseName));
  old.exec(`${migrations.slice(0, 2).join(";")}; PRAGMA user_version = 2`);
});
afterEach(() => rmSync(root, { recursive: true }));

/** As schema 2 wrote a handoff; `agent`: it was delivered there and has ended. */
function write(pos: number, { accepted, ...state }: Handoff, agent: string | null): void {
  const { namespace, id, from, to, capability, accepted_at } = accepted;
  const ended = agent !== null;
  old
    .prepare(
      `INSERT INTO handoffs (pos, namespace, id, sender, addressee, capability, detached, accepted_at, version, state, open,
         queue, rank, lane, last_agent, untaken, json)
       VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)`,
    )
    .run(
      ...[pos, namespace, id, from, to, capability, accepted_at, state.version, ended ? "completed" : "queued"],
      ...[ended ? 0 : 1, ended ? null : `capability:${capability}`, pos, ended ? null : laneOf(accepted), agent],
      JSON.stringify(state),
    );
  old.prepare("INSERT INTO accepted (handoff, json, has_body) VALUES (?, ?, 0)").run(pos, JSON.stringify(accepted));
  old.prepare("INSERT INTO events (pos, namespace, handoff, at, json) VALUES (?, ?, ?, ?, '{}')").run(pos, ns, id, pos);
}

async function migrated(): Promise<Store> {
  old.close();
  return openSqliteStore({ directory: join(root, "store") });
}

test("what is ready says its deadline and its ties, and goes on", async () => {
  const queued = sampleHandoff("a", { conversation_id: "chat", ordering_key: 'k "1" ü' });
  write(1, queued, null);
  const store = await migrated();
  const [ready] = await store.candidates({ namespace: ns, queues: ["capability:research"], agent: "b", limit: 9 });
  expect(ready).toMatchObject({
    id: "a",
    capability: "research",
    deadline_at: queued.accepted.deadline_at,
    version_range: null,
    canary: null,
    lane: laneOf(queued.accepted),
    conversation_id: "chat",
  });
  expect(await store.commit([unit(deliver(queued))])).toEqual(["ok"]);
  expect((await store.load(ns, ["a"]))[0]?.why).toEqual({ rule: "only", among: 1 });
  await store.close();
});

test("who served lanes and conversations before is still known", async () => {
  const [first, second] = [
    sampleHandoff("a", { conversation_id: "chat" }),
    sampleHandoff("b", { ordering_key: 'k "1" ü' }),
  ];
  write(1, first, "bob");
  write(2, second, "carol");
  const store = await migrated();
  const chat = { kind: "conversation", conversation_id: "chat", capability: "research", from: null } as const;
  expect(await store.lastServed(ns, chat)).toBe("bob");
  expect(await store.lastServed(ns, { kind: "sticky_order", lane: laneOf(second.accepted) ?? "" })).toBe("carol");
  const page = await store.list({ namespace: ns, conversation_id: "chat", order: "oldest", limit: 9 });
  expect(page.handoffs.map(({ accepted }) => accepted.id)).toEqual(["a"]);
  await store.close();
});

test("a handoff that was delivered before it was kept why loads as it was", async () => {
  const handoff = sampleHandoff("a");
  write(1, handoff, "bob");
  const store = await migrated();
  const [loaded] = await store.load(ns, ["a"]);
  expect(loaded).toEqual(handoff);
  expect(loaded?.why).toBeUndefined();
  await store.close();
});
