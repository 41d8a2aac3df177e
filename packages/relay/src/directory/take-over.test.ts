/** Two directories on one store: what one writes the other takes over, in its own turns, and only that. */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { RecordName, StoredRecord } from "@handfast/engine";
import { expect, test } from "vitest";
import { Schemas } from "../schemas/schemas.ts";
import { Directory } from "./directory.ts";
import { manifestInForce } from "./manifest-in-force.ts";
import type { Records } from "./records.ts";
import { TakeOver } from "./take-over.ts";
import { StoreRecords } from "./testing/store-records.ts";

const namespace = "default";
const base = { identity: null, keys: [], description: null, registered_at: 1, registration: null };

/** A node whose looks and timers the test makes. */
async function openNode(store: StoreRecords) {
  const reads: RecordName[][] = [];
  const faults: unknown[] = [];
  const waiting: (() => void)[] = [];
  const state = { fails: false, missed: [] as RecordName[] };
  const others: TakeOver = new TakeOver({
    namespace,
    read: async (names) => {
      if (state.fails) throw new Error("the database did not answer");
      reads.push([...names]);
      const found = await Promise.all(names.map(({ kind, key }) => store.find(kind, key)));
      return found.filter((record): record is StoredRecord => record !== null);
    },
    look: async () => others.tell(state.missed.splice(0)),
    schedule: (_delay_ms, callback) => {
      waiting.push(callback);
      return () => {};
    },
    retry_ms: 1,
    onFault: (error) => faults.push(error),
  });
  const records: Records = {
    load: (kind) => store.load(kind),
    find: (kind, key) => store.find(kind, key),
    put: (writes) => store.put(writes),
    others,
  };
  const directory = await Directory.open({ namespace, records, schemas: new Schemas(), now: () => 1_000 });
  others.own({
    kinds: ["agent", "manifest", "cost", "sign_of_life"],
    turns: directory.turns,
    needs: manifestInForce,
    takeOver: (changes, take) => directory.takeOver(changes, take),
    reload: () => directory.load(),
  });
  const offer = (name: string, ...capabilities: string[]) =>
    directory.change(name, () => {
      const offers = { capabilities: capabilities.map((each) => ({ name: each })), signed: false };
      return { agent: { ...base, name }, offers, also: [] };
    });
  return { directory, others, reads, faults, waiting, state, offer };
}

/** The names of everything that was written of an agent. */
async function written(store: StoreRecords, name: string): Promise<RecordName[]> {
  const manifests = (await store.load("manifest")).filter(({ value }) => JSON.stringify(value).includes(name));
  return [{ namespace, kind: "agent", key: name }, ...manifests.map(({ kind, key }) => ({ namespace, kind, key }))];
}

test("an agent whose new manifest was not told of yet is taken over together with it", async () => {
  const store = await StoreRecords.open();
  const one = await openNode(store);
  await one.offer("agent-a", "skill-old");
  const other = await openNode(store);
  await one.offer("agent-a", "skill-new");
  other.others.tell([{ namespace, kind: "agent", key: "agent-a" }]);
  await other.others.catchUp();
  expect(other.directory.offers("agent-a")).toEqual(["skill-new"]);
});

test("only what changed is read, and is found, routed to and checked by from then on", async () => {
  const store = await StoreRecords.open();
  const one = await openNode(store);
  for (const name of ["a", "b", "c"]) await one.offer(`agent-${name}`, `skill-${name}`);
  const other = await openNode(store);
  const told: (string | null)[] = [];
  other.directory.watch((name) => told.push(name));

  await one.offer("agent-b", "skill-new");
  const names = await written(store, "agent-b");
  other.others.tell(names);
  await other.others.catchUp();
  expect(other.reads).toEqual([names]);
  expect(told).toEqual(["agent-b"]);
  expect(other.directory.offers("agent-b")).toEqual(["skill-new"]);
  expect(["skill-a", "skill-b", "skill-new"].map((each) => other.directory.offering(each))).toEqual([1, 0, 1]);

  await one.directory.forget("agent-b", () => []);
  other.others.tell(names);
  await other.others.catchUp();
  expect(other.directory.agent("agent-b")).toBeUndefined();
  expect(other.directory.offering("skill-new")).toBe(0);
});

test("nothing is taken over while this node is half-way through a change of its own", async () => {
  const store = await StoreRecords.open();
  const [one, other] = [await openNode(store), await openNode(store)];
  await one.offer("alice", "old");
  const names = await written(store, "alice");
  const seen: unknown[] = [];
  await other.directory.turns.take(async () => {
    other.others.tell(names);
    // Time enough for all that waits for nothing else.
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    seen.push(other.directory.agent("alice"));
  });
  await other.others.catchUp();
  expect(seen).toEqual([undefined]);
  expect(other.directory.offers("alice")).toEqual(["old"]);
});

test("whoever another node was faster than takes over what is there, and is done on that", async () => {
  const store = await StoreRecords.open();
  const [one, other] = [await openNode(store), await openNode(store)];
  await one.offer("alice", "theirs");
  other.state.missed = await written(store, "alice");
  const seen: unknown[] = [];
  await other.directory.change("alice", (current) => {
    seen.push(current?.manifest?.digest ?? null);
    return { agent: { ...base, name: "alice", description: "mine" }, offers: null, also: [] };
  });
  expect(seen).toEqual([null, one.directory.record("alice")?.manifest?.digest]);
  expect(other.directory.offers("alice")).toEqual(["theirs"]);
  expect((await store.find("agent", "alice"))?.version).toBe(2);
});

test("what could not be read is said to be missing, and is read again", async () => {
  const store = await StoreRecords.open();
  const [one, other] = [await openNode(store), await openNode(store)];
  await one.offer("alice", "late");
  other.state.fails = true;
  other.others.tell(await written(store, "alice"));
  await expect(other.others.catchUp()).rejects.toThrow("did not answer");
  expect(other.others.trouble).toContain("did not answer");
  expect(other.faults.length).toBeGreaterThan(0);
  other.state.fails = false;
  for (const again of other.waiting.splice(0)) again();
  await other.others.catchUp();
  expect(other.others.trouble).toBeNull();
  expect(other.directory.offers("alice")).toEqual(["late"]);
});

test("where it is not known what changed, everything is read", async () => {
  const store = await StoreRecords.open();
  const [one, other] = [await openNode(store), await openNode(store)];
  await one.offer("alice", "a");
  await one.offer("bob", "b");
  other.others.tell(null);
  await other.others.catchUp();
  expect([...other.directory.names()]).toEqual(["alice", "bob"]);
  expect(other.reads).toEqual([]);
});
