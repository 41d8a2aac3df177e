/** What every store must do, written against the interface alone. A store's own test file runs it. */

import { type Handoff, type HandoffEvent, laneOf } from "@handfast/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  accept,
  acknowledge,
  change,
  changed,
  deliver,
  end,
  entryUnit,
  purge,
  recordUnit,
  sampleBody,
  sampleEntry,
  sampleHandoff,
  startOfTime,
  take,
  unit,
} from "./store.samples.ts";
import type { EventQuery, ListQuery, Store, Unit, Write } from "./store.ts";

export interface OpenStore {
  readonly store: Store;
  /** Closes the store and opens the same one again; absent where nothing outlives the process. */
  reopen?(): Promise<Store>;
  /** Makes a backup and opens it as a store of its own; absent where the store leaves backups to other tools. */
  copy?(): Promise<Store>;
  close(): Promise<void>;
}

const ns = "default";
const day_ms = 86_400_000;

export function describeStore(name: string, open: () => Promise<OpenStore>): void {
  describe(name, () => {
    let opened: OpenStore;
    let store: Store;

    beforeEach(async () => {
      opened = await open();
      store = opened.store;
    });
    afterEach(() => opened.close());

    const commit = async (...units: Unit[]) => store.commit(units);
    /** Commits each write as a unit of its own and says what became of the handoffs. */
    const commitAll = async (writes: readonly Write[]): Promise<readonly Handoff[]> => {
      const results = await store.commit(writes.map((write) => unit(write)));
      expect(results).toEqual(writes.map(() => "ok"));
      return writes.map((write) => write.next);
    };
    const commitOne = async (write: Write): Promise<Handoff> => {
      expect(await store.commit([unit(write)])).toEqual(["ok"]);
      return write.next;
    };
    const load = async (id: string, namespace = ns) => (await store.load(namespace, [id]))[0];
    const list = async (query: Partial<ListQuery>) => {
      const page = await store.list({ namespace: ns, order: "oldest", limit: 100, ...query });
      return page.handoffs.map((handoff) => handoff.accepted.id);
    };
    const events = (query: Partial<EventQuery>) =>
      store.events({ namespace: ns, after_pos: 0, limit: 1_000, ...query });
    const told = async (query: Partial<EventQuery>): Promise<readonly HandoffEvent[]> =>
      (await events(query)).events.map(({ json }) => JSON.parse(json));

    describe("commit", () => {
      test("what was committed is read back as it was written", async () => {
        const handoff = sampleHandoff("a", { labels: { team: "blue" }, priority: 3, conversation_id: "talk" });
        await commitOne(accept(handoff));
        expect(await load("a")).toEqual(handoff);
        const write = deliver(handoff);
        await commitOne(write);
        expect(await load("a")).toEqual(write.next);
      });

      test("a handoff comes back with the contract it is under, with what was charged, and with how its end is judged", async () => {
        const contract = { id: "c0", price: { amount: 7, per: "thousand_tokens" }, in_full: true } as const;
        const a = await commitOne(accept(sampleHandoff("a", { contract })));
        const charged = await commitOne(change(a, { billed: { cost: 7, tokens: 900, over: false } }));
        const ending = end(charged, "completed", 200);
        const verdict = { id: "c0", verdict: "breach", why: "cost_above_price" } as const;
        const judged = ending.events.map((event) => ({ ...event, contract: verdict }) as HandoffEvent);
        await commitOne({ ...ending, events: judged });
        if (opened.reopen !== undefined) store = await opened.reopen();
        expect(await load("a")).toEqual(ending.next);
        expect((await load("a"))?.accepted.contract).toEqual(contract);
        expect((await told({ handoff: "a" })).at(-1)).toEqual(judged[0]);
      });

      test("unknown ids are null, in the order they were asked for", async () => {
        const handoff = await commitOne(accept(sampleHandoff("a")));
        expect(await store.load(ns, ["x", "a", "y"])).toEqual([null, handoff, null]);
      });

      test("a unit with one unexpected version writes nothing of itself", async () => {
        const [a, b] = await commitAll([accept(sampleHandoff("a")), accept(sampleHandoff("b"))]);
        if (a === undefined || b === undefined) throw new Error("not written");
        const stale = { ...change(b), expected_version: 7, next: changed(b, { version: 8 }) };
        const results = await commit({
          writes: [change(a, {}, { bodies: [sampleBody("ack", 1)] }), stale],
          records: [{ namespace: ns, kind: "k", key: "r", expected_version: 0, value: 1 }],
        });
        expect(results).toEqual(["conflict"]);
        expect(await store.load(ns, ["a", "b"])).toEqual([a, b]);
        expect(await store.bodies(ns, "a")).toEqual([]);
        expect(await store.record(ns, "k", "r")).toBeNull();
        expect((await events({})).head).toBe((await events({})).events.length);
        expect(await told({ handoff: "a" })).toHaveLength(1);
      });

      test("an unexpected record version fails the handoffs of its unit too", async () => {
        const records = [{ namespace: ns, kind: "k", key: "r", expected_version: 3, value: 1 }];
        expect(await commit({ writes: [accept(sampleHandoff("a"))], records })).toEqual(["conflict"]);
        expect(await load("a")).toBeNull();
        expect(await store.key(ns, "alice", "a")).toBeNull();
      });

      test("one bad unit does not fail the others of its batch", async () => {
        const a = await commitOne(accept(sampleHandoff("a")));
        const stale = { ...change(a), expected_version: 9, next: changed(a, { version: 10 }) };
        const results = await commit(unit(accept(sampleHandoff("b"))), unit(stale), unit(accept(sampleHandoff("c"))));
        expect(results).toEqual(["ok", "conflict", "ok"]);
        expect((await load("b"))?.version).toBe(1);
        expect((await load("c"))?.version).toBe(1);
        expect((await load("a"))?.version).toBe(1);
      });

      test("several writes to one handoff in a batch go by the chain of their versions", async () => {
        const accepted = accept(sampleHandoff("a"));
        const delivered = deliver(accepted.next);
        const acknowledged = acknowledge(delivered.next);
        const completed = end(acknowledged.next, "completed", 200);
        const results = await commit(unit(accepted, delivered), unit(acknowledged), unit(completed));
        expect(results).toEqual(["ok", "ok", "ok"]);
        expect(await load("a")).toEqual(completed.next);
        const types = (await told({ handoff: "a" })).map((event) => event.type);
        expect(types).toEqual(["accepted", "delivered", "acknowledged", "completed"]);
      });

      test("what builds on a unit that conflicted conflicts too, even if its version happens to fit", async () => {
        const a = await commitOne(accept(sampleHandoff("a")));
        const ours = deliver(a);
        const theirs = end(a, "canceled", 410);
        await commitOne(theirs);
        const results = await store.commit([unit(ours), unit(acknowledge(ours.next))]);
        expect(results).toEqual(["conflict", "conflict"]);
        expect((await load("a"))?.status.state).toBe("canceled");
      });

      test("a broken chain of versions inside a unit is a conflict", async () => {
        const accepted = accept(sampleHandoff("a"));
        expect(await commit(unit(accepted, acknowledge(deliver(accepted.next).next)))).toEqual(["conflict"]);
        expect(await load("a")).toBeNull();
      });

      test("an id is taken once", async () => {
        const first = await commitOne(accept(sampleHandoff("a")));
        expect(await commit(unit(accept(sampleHandoff("a", { idempotency_key: "other" }))))).toEqual(["conflict"]);
        expect(await load("a")).toEqual(first);
        expect(await store.key(ns, "alice", "other")).toBeNull();
      });

      test("an idempotency key is taken once for each sender", async () => {
        await commitOne(accept(sampleHandoff("a", { idempotency_key: "once" })));
        const again = accept(sampleHandoff("b", { idempotency_key: "once" }));
        expect(await commit(unit(again))).toEqual(["conflict"]);
        expect(await load("b")).toBeNull();
        expect(await store.key(ns, "alice", "once")).toEqual({ id: "a", content: "content-of-a" });
        await commitOne(accept(sampleHandoff("c", { idempotency_key: "once", from: "carol" })));
        expect(await store.key(ns, "carol", "once")).toEqual({ id: "c", content: "content-of-c" });
      });

      test("a key that is the id of its handoff is taken; the id of a handoff with another key is not", async () => {
        await commitAll([accept(sampleHandoff("a")), accept(sampleHandoff("b", { idempotency_key: "once" }))]);
        expect(await store.key(ns, "alice", "a")).toEqual({ id: "a", content: "content-of-a" });
        expect(await store.key(ns, "carol", "a")).toBeNull();
        expect(await store.key(ns, "alice", "b")).toBeNull();
        expect(await commit(unit(accept(sampleHandoff("c", { idempotency_key: "a" }))))).toEqual(["conflict"]);
        await commitOne(accept(sampleHandoff("c", { idempotency_key: "a", from: "carol" })));
        await commitOne(accept(sampleHandoff("d", { idempotency_key: "b" })));
        expect(await store.key(ns, "alice", "b")).toEqual({ id: "d", content: "content-of-d" });
      });

      test("a key that was free when it was asked for is taken by the first of two in one commit", async () => {
        expect(await store.key(ns, "alice", "once")).toBeNull();
        const one = accept(sampleHandoff("a", { idempotency_key: "once" }));
        const two = accept(sampleHandoff("b", { idempotency_key: "once" }));
        expect(await commit(unit(one), unit(two))).toEqual(["ok", "conflict"]);
        expect(await store.key(ns, "alice", "once")).toEqual({ id: "a", content: "content-of-a" });
      });

      test("an id that was unknown when it was asked for is known once it is written, and gone when purged", async () => {
        expect(await load("a")).toBeNull();
        const a = await commitOne(accept(sampleHandoff("a")));
        expect(await load("a")).toEqual(a);
        await commitOne(purge(await commitOne(end(a, "completed", 200)), startOfTime));
        expect(await load("a")).toBeNull();
      });

      test("the same key twice in one unit is a conflict of the whole unit", async () => {
        const one = accept(sampleHandoff("a", { idempotency_key: "once" }));
        const two = accept(sampleHandoff("b", { idempotency_key: "once" }));
        expect(await commit(unit(one, two))).toEqual(["conflict"]);
        expect(await store.load(ns, ["a", "b"])).toEqual([null, null]);
      });

      test("an empty batch is nothing", async () => {
        expect(await store.commit([])).toEqual([]);
      });

      test("what was committed is there after the store is opened again", async () => {
        if (opened.reopen === undefined) return;
        const a = await commitOne(
          accept(sampleHandoff("a"), { bodies: [sampleBody("handoff", 0)], artifacts: ["f00"] }),
        );
        const delivered = await commitOne(deliver(a));
        await commit(recordUnit({ namespace: ns, kind: "k", key: "r", expected_version: 0, value: { n: 1 } }));
        const before = await events({});
        store = await opened.reopen();
        expect(await load("a")).toEqual(delivered);
        expect(await store.body(ns, "a", "handoff", 0)).toEqual(sampleBody("handoff", 0));
        expect(await store.referrers(ns, "f00", 10)).toEqual(["a"]);
        expect(await store.record(ns, "k", "r")).toMatchObject({ version: 1, value: { n: 1 } });
        expect(await events({})).toEqual(before);
        expect(await store.counts(ns)).toEqual({ delivered: 1 });
        await commitOne(acknowledge(delivered));
        expect((await events({ after_pos: before.head })).events).toHaveLength(1);
      });

      test("recover keeps what was committed and lets work go on", async () => {
        const a = await commitOne(accept(sampleHandoff("a")));
        await store.recover();
        expect(await load("a")).toEqual(a);
        await commitOne(deliver(a));
        expect(await list({ state: "delivered" })).toEqual(["a"]);
      });
    });

    describe("bodies", () => {
      test("bytes come back exactly, also those that are no text", async () => {
        const payload = Uint8Array.from({ length: 256 }, (_, byte) => byte);
        const document = '{"text":"äöü 😀 \\u0000"}\n ';
        const body = { kind: "handoff", number: 0, document, proof: null, payload } as const;
        await commitOne(accept(sampleHandoff("a"), { bodies: [body] }));
        expect(await store.body(ns, "a", "handoff", 0)).toEqual(body);
      });

      test("nothing is not the same as empty", async () => {
        const nothing = { kind: "ack", number: 1, document: null, proof: null, payload: null } as const;
        const empty = { kind: "outcome", number: 1, document: "", proof: null, payload: new Uint8Array(0) } as const;
        await commitOne(accept(sampleHandoff("a"), { bodies: [nothing, empty] }));
        expect(await store.bodies(ns, "a")).toEqual([nothing, empty]);
      });

      test("a megabyte goes through", async () => {
        const payload = new Uint8Array(1_048_576).fill(7);
        await commitOne(accept(sampleHandoff("a"), { bodies: [{ ...sampleBody("handoff", 0), payload }] }));
        const body = await store.body(ns, "a", "handoff", 0);
        expect(Buffer.compare(body?.payload ?? new Uint8Array(), payload)).toBe(0);
      });

      test("a body never changes: the first of its kind and number stays", async () => {
        const a = await commitOne(accept(sampleHandoff("a"), { bodies: [sampleBody("outcome", 1, "first")] }));
        await commitOne(change(a, {}, { bodies: [sampleBody("outcome", 1, "second"), sampleBody("outcome", 2)] }));
        expect(await store.body(ns, "a", "outcome", 1)).toEqual(sampleBody("outcome", 1, "first"));
        expect(await store.body(ns, "a", "outcome", 2)).toEqual(sampleBody("outcome", 2));
        expect(await store.body(ns, "a", "outcome", 3)).toBeNull();
      });

      test("of checkpoints only the newest is kept", async () => {
        const a = await commitOne(accept(sampleHandoff("a"), { bodies: [sampleBody("handoff", 0)] }));
        const b = await commitOne(change(a, {}, { bodies: [sampleBody("checkpoint", 1)] }));
        await commitOne(change(b, {}, { bodies: [sampleBody("checkpoint", 2)] }));
        expect(await store.body(ns, "a", "checkpoint", 1)).toBeNull();
        expect(await store.bodies(ns, "a")).toEqual([sampleBody("handoff", 0), sampleBody("checkpoint", 2)]);
      });

      test("handoffs that refer to an artifact are found, each once", async () => {
        const a = await commitOne(accept(sampleHandoff("a"), { artifacts: ["f00"] }));
        await commitOne(accept(sampleHandoff("b"), { artifacts: ["f00", "ba5"] }));
        await commitOne(change(a, {}, { artifacts: ["f00"] }));
        expect(await store.referrers(ns, "f00", 10)).toEqual(["a", "b"]);
        expect(await store.referrers(ns, "f00", 1)).toHaveLength(1);
        expect(await store.referrers(ns, "0ff", 10)).toEqual([]);
      });
    });

    describe("dispatch", () => {
      const candidates = async (queues: readonly string[], agent = "bob", limit = 10) =>
        (await store.candidates({ namespace: ns, queues, agent, limit })).map(({ id }) => id);
      const research = "capability:research";

      test("candidates come by rank, equal ranks in accept order, at most so many", async () => {
        await commitAll([
          accept(sampleHandoff("c"), { find: { rank: 30 } }),
          accept(sampleHandoff("b2"), { find: { rank: 20 } }),
          accept(sampleHandoff("b1"), { find: { rank: 20 } }),
          accept(sampleHandoff("urgent"), { find: { rank: -5 } }),
        ]);
        expect(await candidates([research])).toEqual(["urgent", "b2", "b1", "c"]);
        expect(await candidates([research], "bob", 2)).toEqual(["urgent", "b2"]);
      });

      test("several queues are merged by rank", async () => {
        await commitAll([
          accept(sampleHandoff("a"), { find: { rank: 3 } }),
          accept(sampleHandoff("b", { to: "bob" }), { find: { rank: 2 } }),
          accept(sampleHandoff("c"), { find: { rank: 1 } }),
          accept(sampleHandoff("d", { capability: "other" }), { find: { rank: 0 } }),
        ]);
        expect(await candidates([research, "agent:bob"])).toEqual(["c", "b", "a"]);
        expect(await candidates(["agent:bob", research, research], "bob", 2)).toEqual(["c", "b"]);
        expect(await candidates([])).toEqual([]);
      });

      test("a candidate says what core must know to choose", async () => {
        const avoid = { agent: "bob", worker: "bob-1", until: 9 };
        const prefer = { agent: "carol", until: 8 };
        const asked = { version_range: "^2", canary: "2.x", conversation_id: "chat", ordering_key: "k" };
        const handoff = { ...sampleHandoff("a", asked), avoid, prefer, excluded: ["dave"] };
        await commitOne(accept(handoff, { find: { rank: 5, lane: "lane" } }));
        const { accepted_at: ready_at, deadline_at } = handoff.accepted;
        expect(await store.candidates({ namespace: ns, queues: [research], agent: "bob", limit: 1 })).toEqual([
          {
            id: "a",
            queue: research,
            rank: 5,
            excluded: ["dave"],
            avoid,
            prefer,
            capability: "research",
            ready_at,
            deadline_at,
            queue_until: handoff.status.state === "queued" ? handoff.status.queue_until : null,
            version_range: "^2",
            canary: "2.x",
            from: "alice",
            lane: "lane",
            conversation_id: "chat",
          },
        ]);
      });

      test("a candidate for an agent by name is tied to no other", async () => {
        const asked = { to: "bob", capability: "research", conversation_id: "chat", ordering_key: "k" };
        await commitOne(accept(sampleHandoff("a", asked)));
        const [found] = await store.candidates({ namespace: ns, queues: ["agent:bob"], agent: "bob", limit: 1 });
        expect(found).toMatchObject({ capability: "research", lane: null, conversation_id: null, version_range: null });
      });

      test("live leases are told with their agent, capability and sender, until they end", async () => {
        const [a, b] = await commitAll([accept(sampleHandoff("a")), accept(sampleHandoff("b", { to: "bob" }))]);
        if (a === undefined || b === undefined) throw new Error("no samples");
        expect(await store.leases()).toEqual([]);
        const [held] = await commitAll([deliver(a, "carol"), deliver(b, "bob")]);
        const told = async () => (await store.leases()).toSorted((one, other) => (one.id < other.id ? -1 : 1));
        expect(await told()).toEqual([
          { namespace: ns, id: "a", agent: "carol", capability: "research", from: a.accepted.from },
          { namespace: ns, id: "b", agent: "bob", capability: null, from: b.accepted.from },
        ]);
        if (held !== undefined) await commitOne(end(held, "completed", 200));
        expect(await told()).toEqual([
          { namespace: ns, id: "b", agent: "bob", capability: null, from: b.accepted.from },
        ]);
      });

      test("who served the newest delivered handoff of a conversation is found, by capability", async () => {
        const of = (id: string, patch: Partial<Handoff["accepted"]> = {}) =>
          sampleHandoff(id, { conversation_id: "chat", ...patch });
        const chat = (capability = "research", from: string | null = null) =>
          store.lastServed(ns, { kind: "conversation", conversation_id: "chat", capability, from });
        expect(await chat()).toBeNull();
        const [first, second, direct, other] = await commitAll([
          accept(of("first")),
          accept(of("second")),
          accept(of("direct", { to: "eve", capability: "research" })),
          accept(of("other", { capability: "write" })),
          accept(of("queued")),
          accept(of("elsewhere", { conversation_id: "another chat" })),
        ]);
        if (first === undefined || second === undefined || direct === undefined || other === undefined)
          throw new Error();
        await commitAll([deliver(first, "bob"), deliver(direct, "eve"), deliver(other, "carol")]);
        expect([await chat(), await chat("write"), await chat("draw")]).toEqual(["bob", "carol", null]);
        const delivered = await commitOne(deliver(second, "dave"));
        await commitOne(end(delivered, "completed", 200, { find: { last_agent: "dave" } }));
        expect(await chat()).toBe("dave");
      });

      test("who served the newest of a conversation is found by who sent it", async () => {
        const chat = (from: string | null) =>
          store.lastServed(ns, { kind: "conversation", conversation_id: "chat", capability: "research", from });
        const [own, strange] = await commitAll([
          accept(sampleHandoff("own", { conversation_id: "chat", from: "alice" })),
          accept(sampleHandoff("strange", { conversation_id: "chat", from: "eve" })),
        ]);
        if (own === undefined || strange === undefined) throw new Error("no samples");
        await commitAll([deliver(own, "bob"), deliver(strange, "eve")]);
        expect([await chat("alice"), await chat("eve"), await chat(null), await chat("zoe")]).toEqual([
          "bob",
          "eve",
          "eve",
          null,
        ]);
      });

      test("who served the newest delivered handoff of a lane is found, also after its end", async () => {
        const lane = (ordering_key: string) =>
          laneOf({ from: "alice", to: null, capability: "research", ordering_key }) ?? "";
        const served = (ordering_key: string) =>
          store.lastServed(ns, { kind: "sticky_order", lane: lane(ordering_key) });
        const [first] = await commitAll([
          accept(sampleHandoff("first", { ordering_key: "k" })),
          accept(sampleHandoff("next", { ordering_key: "k" })),
        ]);
        if (first === undefined) throw new Error("no sample");
        expect(await served("k")).toBeNull();
        const delivered = await commitOne(deliver(first, "bob"));
        await commitOne(end(delivered, "failed", 500, { find: { last_agent: "bob" } }));
        expect([await served("k"), await served("other")]).toEqual(["bob", null]);
      });

      test("an agent finds work behind a thousand handoffs it is excluded from", async () => {
        const refused = Array.from({ length: 1_000 }, (_, n) =>
          accept({ ...sampleHandoff(`refused-${n}`), excluded: ["zoe", "bob"] }, { find: { rank: n } }),
        );
        await commitAll([...refused, accept(sampleHandoff("mine"), { find: { rank: 2_000 } })]);
        expect(await candidates([research], "bob")).toEqual(["mine"]);
        expect(await candidates([research], "carol", 2)).toEqual(["refused-0", "refused-1"]);
      });

      test("an exclusion is by the whole name", async () => {
        await commitOne(accept({ ...sampleHandoff("a"), excluded: ['x"bob', "bobby"] }));
        expect(await candidates([research], "bob")).toEqual(["a"]);
        expect(await candidates([research], 'x"bob')).toEqual([]);
      });

      test("what is delivered, blocked or ended is no candidate; requeued it is again", async () => {
        const [a] = await commitAll([
          accept(sampleHandoff("a")),
          accept(sampleHandoff("blocked"), { find: { queue: null } }),
        ]);
        if (a === undefined) throw new Error("not written");
        const delivered = await commitOne(deliver(a));
        expect(await candidates([research])).toEqual([]);
        const requeued = await commitOne(change(delivered, { status: a.status }));
        expect(await candidates([research])).toEqual(["a"]);
        await commitOne(end(requeued, "canceled", 410));
        expect(await candidates([research])).toEqual([]);
      });

      test("due handoffs come earliest first, over all namespaces", async () => {
        await commitAll([
          accept(sampleHandoff("late"), { find: { wake_at: 300 } }),
          accept(sampleHandoff("early"), { find: { wake_at: 100 } }),
          accept(sampleHandoff("there", { namespace: "other" }), { find: { wake_at: 200 } }),
          accept(sampleHandoff("never"), { find: { wake_at: null } }),
        ]);
        expect(await store.nextDue()).toBe(100);
        expect(await store.due(99, 10)).toEqual([]);
        expect(await store.due(300, 10)).toEqual([
          { namespace: ns, id: "early" },
          { namespace: "other", id: "there" },
          { namespace: ns, id: "late" },
        ]);
        expect(await store.due(300, 1)).toEqual([{ namespace: ns, id: "early" }]);
      });

      test("without anything to wake nothing is due next", async () => {
        expect(await store.nextDue()).toBeNull();
      });

      test("the members of a lane come in accept order, whatever their ids, while they are open", async () => {
        const lane = { ordering_key: "lane" };
        const [z] = await commitAll(["z", "a", "m"].map((id) => accept(sampleHandoff(id, lane))));
        await commitOne(accept(sampleHandoff("elsewhere", { ordering_key: "other" })));
        if (z === undefined) throw new Error("not written");
        expect(await store.laneMembers(ns, "lane", 10)).toEqual(["z", "a", "m"]);
        const waiting = await commitOne(change(z));
        expect(await store.laneMembers(ns, "lane", 1)).toEqual(["z"]);
        await commitOne(end(waiting, "failed", 500));
        expect(await store.laneMembers(ns, "lane", 10)).toEqual(["a", "m"]);
        expect(await store.laneMembers(ns, "nowhere", 10)).toEqual([]);
      });

      test("what a worker holds is found until the lease ends", async () => {
        const [a, b, c] = await commitAll(["a", "b", "c"].map((id) => accept(sampleHandoff(id))));
        if (a === undefined || b === undefined || c === undefined) throw new Error("not written");
        const [held] = await commitAll([deliver(a), deliver(b, "bob", "bob-2"), deliver(c)]);
        if (held === undefined) throw new Error("not written");
        expect(await store.held(ns, "bob", "bob-1")).toEqual(["a", "c"]);
        await commitOne(end(held, "completed", 200));
        expect(await store.held(ns, "bob", "bob-1")).toEqual(["c"]);
        expect(await store.held(ns, "bob", "bob-2")).toEqual(["b"]);
      });

      test("open children are those that end with their parent", async () => {
        const causation = { id: "parent", fence: 1 };
        const children = await commitAll([
          accept(sampleHandoff("one", { causation })),
          accept(sampleHandoff("two", { causation })),
          accept(sampleHandoff("free", { causation, detached: true })),
          accept(sampleHandoff("foreign", { causation: { id: "another", fence: 1 } })),
        ]);
        expect(await store.openChildren(ns, "parent", 10)).toEqual(["one", "two"]);
        expect(await store.openChildren(ns, "parent", 1)).toEqual(["one"]);
        if (children[0] === undefined) throw new Error("not written");
        await commitOne(end(children[0], "completed", 200));
        expect(await store.openChildren(ns, "parent", 10)).toEqual(["two"]);
      });
    });

    describe("list", () => {
      test("each filter finds its handoffs and no others", async () => {
        const at = (n: number) => startOfTime + n * 1_000;
        const causation = { id: "root", fence: 1 };
        const accepted = await commitAll([
          accept(sampleHandoff("root", { accepted_at: at(0) })),
          accept(sampleHandoff("child", { accepted_at: at(1), causation, correlation_id: "root", from: "bob" })),
          accept(
            sampleHandoff("direct", {
              accepted_at: at(2),
              to: "bob",
              conversation_id: "chat",
              labels: { team: "blue", tier: "1" },
            }),
          ),
          accept(sampleHandoff("asked", { accepted_at: at(3), from: "carol", labels: { team: "red" } }), {
            find: { question_to: "" },
          }),
          accept(sampleHandoff("desk", { accepted_at: at(4), capability: "write" }), {
            find: { question_to: "humans" },
          }),
          accept(sampleHandoff("done", { accepted_at: at(5), conversation_id: "chat" })),
          accept(sampleHandoff("taken", { accepted_at: at(6) })),
          accept(sampleHandoff("dead", { accepted_at: at(7), from: "carol" })),
          accept(sampleHandoff("again", { accepted_at: at(8) })),
          accept(sampleHandoff("gone", { accepted_at: at(9) })),
        ]);
        const get = (id: string) => {
          const found = accepted.find((handoff) => handoff.accepted.id === id);
          if (found === undefined) throw new Error(`no sample ${id}`);
          return found;
        };
        const completed = end(get("taken"), "completed", 200);
        const failed = end(get("again"), "failed", 500);
        await commitAll([
          deliver(get("root"), "bob"),
          end(get("done"), "completed", 200),
          completed,
          take(completed.next),
          end(get("dead"), "expired", 408),
          failed,
          change(failed.next, {}, { find: { open: false, queue: null, dead_letter: "redriven" } }),
          end(get("gone"), "canceled", 410, { find: { untaken: false } }),
        ]);

        expect(await list({})).toEqual(accepted.map((handoff) => handoff.accepted.id));
        expect(await list({ from: "carol" })).toEqual(["asked", "dead"]);
        expect(await list({ party: "bob" })).toEqual(["root", "child", "direct"]);
        expect(await list({ party: "carol" })).toEqual(["asked", "dead"]);
        expect(await list({ state: "delivered" })).toEqual(["root"]);
        expect(await list({ state: "queued" })).toEqual(["child", "direct", "asked", "desk"]);
        expect(await list({ state: "completed" })).toEqual(["done", "taken"]);
        expect(await list({ state: "expired" })).toEqual(["dead"]);
        expect(await list({ state: "rejected" })).toEqual([]);
        expect(await list({ capability: "write" })).toEqual(["desk"]);
        expect(await list({ to: "bob" })).toEqual(["direct"]);
        expect(await list({ correlation_id: "root" })).toEqual(["root", "child"]);
        expect(await list({ correlation_id: "child" })).toEqual([]);
        expect(await list({ causation_id: "root" })).toEqual(["child"]);
        expect(await list({ conversation_id: "chat" })).toEqual(["direct", "done"]);
        expect(await list({ conversation_id: "chat", party: "bob" })).toEqual(["direct"]);
        expect(await list({ label: { key: "team", value: "blue" } })).toEqual(["direct"]);
        expect(await list({ label: { key: "team", value: "1" } })).toEqual([]);
        expect(await list({ untaken: true, from: "alice" })).toEqual(["done"]);
        expect(await list({ untaken: true })).toEqual(["done", "dead"]);
        expect(await list({ dead_letter: "open" })).toEqual(["dead"]);
        expect(await list({ dead_letter: "redriven" })).toEqual(["again"]);
        expect(await list({ dead_letter: "discarded" })).toEqual([]);
        expect(await list({ dead_letter: "any" })).toEqual(["dead", "again"]);
        expect(await list({ question_to: [""] })).toEqual(["asked"]);
        expect(await list({ question_to: ["humans", ""] })).toEqual(["asked", "desk"]);
        expect(await list({ question_to: [] })).toEqual([]);
        expect(await list({ accepted_from: at(8) })).toEqual(["again", "gone"]);
        expect(await list({ accepted_until: at(1) })).toEqual(["root", "child"]);
        expect(await list({ accepted_from: at(2), accepted_until: at(3) })).toEqual(["direct", "asked"]);
        expect(await list({ code: 410 })).toEqual(["gone"]);
        expect(await list({ code: 200 })).toEqual(["done", "taken"]);
        expect(await list({ party: "carol", dead_letter: "any", code: 408, state: "expired" })).toEqual(["dead"]);
        expect(await list({ from: "alice", question_to: ["", "humans"], state: "queued" })).toEqual(["desk"]);
        expect(await list({ order: "newest", limit: 2 })).toEqual(["gone", "again"]);
      });

      const readAll = async (query: Partial<ListQuery>, betweenPages: () => Promise<void>) => {
        const seen: string[] = [];
        let after: string | undefined;
        for (let pages = 0; pages < 100; pages += 1) {
          const page = await store.list({
            namespace: ns,
            order: "oldest",
            limit: 3,
            ...query,
            ...(after !== undefined && { after }),
          });
          seen.push(...page.handoffs.map((handoff) => handoff.accepted.id));
          if (page.after === null) return seen;
          after = page.after;
          await betweenPages();
        }
        throw new Error("the list never ends");
      };

      for (const query of [{}, { from: "alice" }, { party: "alice" }, { label: { key: "l", value: "v" } }]) {
        test(`pages lose and repeat nothing while new handoffs come in: ${JSON.stringify(query)}`, async () => {
          const labels = { l: "v" };
          const ids = Array.from({ length: 10 }, (_, n) => `first-${n}`);
          await commitAll(ids.map((id) => accept(sampleHandoff(id, { labels, to: "alice" }))));
          let more = 0;
          const arrive = async () => {
            more += 1;
            if (more < 6) await commitOne(accept(sampleHandoff(`more-${more}`, { labels })));
          };
          const newest = await readAll({ ...query, order: "newest" }, arrive);
          expect(newest).toEqual(ids.toReversed());
          const oldest = await readAll({ ...query, order: "oldest" }, arrive);
          expect(oldest.slice(0, 10)).toEqual(ids);
          expect(new Set(oldest).size).toBe(oldest.length);
          expect(oldest.slice(10)).toEqual(Array.from({ length: oldest.length - 10 }, (_, n) => `more-${n + 1}`));
        });
      }

      test("a rare handoff is found among thousands that the filter passes over", async () => {
        const many = Array.from({ length: 5_000 }, (_, n) => accept(sampleHandoff(`n-${n}`)));
        await commitAll([...many, accept(sampleHandoff("rare", { from: "carol" }))]);
        expect(await list({ state: "queued", from: "carol", limit: 1 })).toEqual(["rare"]);
        expect(await list({ state: "queued", limit: 10, order: "newest" })).toHaveLength(10);
      });

      test("a full last page says that it is the last", async () => {
        await commitAll([accept(sampleHandoff("a")), accept(sampleHandoff("b"))]);
        expect((await store.list({ namespace: ns, order: "oldest", limit: 2 })).after).toBeNull();
        expect((await store.list({ namespace: ns, order: "oldest", limit: 1 })).after).not.toBeNull();
      });

      test("counts follow every change", async () => {
        expect(await store.counts(ns)).toEqual({});
        const [a, b] = await commitAll([accept(sampleHandoff("a")), accept(sampleHandoff("b"))]);
        if (a === undefined || b === undefined) throw new Error("not written");
        expect(await store.counts(ns)).toEqual({ queued: 2 });
        const delivered = await commitOne(deliver(a));
        expect(await store.counts(ns)).toEqual({ queued: 1, delivered: 1 });
        const ended = await commitOne(end(delivered, "completed", 200));
        await commitOne(purge(ended, startOfTime));
        expect(await store.counts(ns)).toEqual({ queued: 1 });
        await commitOne(accept(sampleHandoff("c", { namespace: "other" })));
        await commitOne(end(b, "failed", 500));
        expect(await store.openBySender()).toEqual([{ namespace: "other", from: b.accepted.from, open: 1 }]);
      });

      test("a list sees what was committed before it was asked for", async () => {
        for (let n = 0; n < 20; n += 1) {
          await commitOne(accept(sampleHandoff(`n-${n}`)));
          expect(await list({ order: "newest", limit: 1 })).toEqual([`n-${n}`]);
        }
      });
    });

    describe("events", () => {
      test("positions rise, in the order of units and writes; numbers of a handoff are dense", async () => {
        const a = accept(sampleHandoff("a"));
        const b = accept(sampleHandoff("b"));
        await commit(unit(a, b, deliver(a.next)), unit(deliver(b.next)));
        const page = await events({});
        const positions = page.events.map(({ pos }) => pos);
        expect(positions).toEqual(positions.toSorted((x, y) => x - y));
        expect(new Set(positions).size).toBe(4);
        const order = (await told({})).map(({ handoff, seq }) => `${handoff}${seq}`);
        expect(order).toEqual(["a1", "b1", "a2", "b2"]);
        expect(page.head).toBe(positions.at(-1));
        expect(page.floor).toBe(0);
      });

      test("an event's bytes never change, whatever becomes of its handoff", async () => {
        const write = accept(sampleHandoff("a"));
        const a = await commitOne(write);
        const [first] = (await events({})).events;
        expect(JSON.parse(first?.json ?? "null")).toEqual(write.events[0]);
        const ended = await commitOne(end(a, "canceled", 410));
        await commitOne(purge(ended, startOfTime));
        expect((await events({})).events[0]).toEqual(first);
      });

      test("each filter finds its events and no others", async () => {
        const at = (n: number) => startOfTime + n;
        const root = accept(sampleHandoff("root", { accepted_at: at(0) }));
        const child = accept(
          sampleHandoff("child", { accepted_at: at(1), from: "bob", to: "carol", correlation_id: "root" }),
        );
        const odd = accept(sampleHandoff("odd", { accepted_at: at(2), from: "dave", correlation_id: "child" }));
        const delivered = deliver(root.next, "erin", "erin-1", { at: at(3) });
        await commitAll([root, child, odd, delivered]);
        const names = async (query: Partial<EventQuery>) =>
          (await told(query)).map(({ handoff, seq }) => `${handoff}${seq}`);
        expect(await names({})).toEqual(["root1", "child1", "odd1", "root2"]);
        expect(await names({ handoff: "root" })).toEqual(["root1", "root2"]);
        expect(await names({ correlation_id: "root" })).toEqual(["root1", "child1", "root2"]);
        expect(await names({ correlation_id: "child" })).toEqual(["odd1"]);
        expect(await names({ agent: "alice" })).toEqual(["root1", "root2"]);
        expect(await names({ agent: "carol" })).toEqual(["child1"]);
        expect(await names({ agent: "erin" })).toEqual(["root2"]);
        expect(await names({ at_from: at(2) })).toEqual(["odd1", "root2"]);
        expect(await names({ at_until: at(1) })).toEqual(["root1", "child1"]);
        expect(await names({ at_from: at(1), at_until: at(2), agent: "dave" })).toEqual(["odd1"]);
        expect(await names({ handoff: "root", agent: "erin" })).toEqual(["root2"]);
        expect(await names({ handoff: "root", at_from: at(1) })).toEqual(["root2"]);
        expect(await names({ handoff: "root", at_from: at(0), after_pos: 1 })).toEqual(["root2"]);
        expect(await names({ handoff: "root", at_from: at(4) })).toEqual([]);
        expect(await names({ namespace: "other" })).toEqual([]);
      });

      test("pages go on where the last one ended, also through thousands that do not match", async () => {
        const writes = Array.from({ length: 3_000 }, (_, n) =>
          accept(sampleHandoff(`n-${n}`, { from: n % 1_000 === 999 ? "carol" : "alice" })),
        );
        await commitAll(writes);
        const seen: string[] = [];
        let after_pos = 0;
        for (;;) {
          const page = await events({ agent: "carol", after_pos, limit: 1 });
          const [event] = page.events;
          if (event === undefined) break;
          seen.push(JSON.parse(event.json).handoff);
          after_pos = event.pos;
          expect(page.head).toBeGreaterThanOrEqual(after_pos);
        }
        expect(seen).toEqual(["n-999", "n-1999", "n-2999"]);
      });

      test("after pruning the floor says what is gone, and positions are not given again", async () => {
        const at = (n: number) => startOfTime + n;
        const kept = await commitAll([0, 1, 2, 3].map((n) => accept(sampleHandoff(`n-${n}`, { accepted_at: at(n) }))));
        const before = (await events({})).events;
        expect(await store.prune(at(9), at(100), 10)).toEqual({ events: 0, keys: 0 });
        const drop = async (handoff: Handoff) =>
          commitOne(purge(await commitOne(end(handoff, "completed", 200)), startOfTime));
        for (const handoff of kept.slice(0, 2)) await drop(handoff);
        expect((await store.prune(at(9), at(2), 1)).events).toBe(1);
        expect((await store.prune(at(9), at(2), 10)).events).toBe(1);
        expect((await store.prune(at(9), startOfTime + 999 * day_ms, 10)).events).toBe(0);
        const page = await events({});
        expect(page.events.slice(0, 2)).toEqual(before.slice(2));
        expect(page.floor).toBe(before[1]?.pos);
        for (const handoff of kept.slice(2)) await drop(handoff);
        const all = (await events({})).events;
        expect((await store.prune(at(9), startOfTime + 999 * day_ms, 100)).events).toBe(all.length);
        const empty = await events({});
        expect(empty).toMatchObject({ events: [], floor: all.at(-1)?.pos, head: all.at(-1)?.pos });
        expect(await store.latest()).toBeGreaterThanOrEqual(at(3));
        if (opened.reopen !== undefined) store = await opened.reopen();
        await commitOne(accept(sampleHandoff("next", { accepted_at: at(10) })));
        const [next] = (await events({ after_pos: empty.head })).events;
        expect(next?.pos).toBeGreaterThan(empty.head);
      });

      test("an entry of no handoff stands in the log where it was committed, after the events of its unit", async () => {
        const looked = [sampleEntry("alice", ["bob"], startOfTime), sampleEntry("carol", ["bob"], startOfTime)];
        const [a, b] = [accept(sampleHandoff("a")), accept(sampleHandoff("b"))];
        expect(await commit({ ...entryUnit(...looked), writes: [a] }, unit(b))).toEqual(["ok", "ok"]);
        const page = await events({});
        expect(page.events.map(({ pos }) => pos)).toEqual([1, 2, 3, 4]);
        expect(page.events.map(({ json }) => JSON.parse(json))).toEqual([a.events[0], ...looked, b.events[0]]);
        expect(page.head).toBe(4);
        if (opened.reopen !== undefined) store = await opened.reopen();
        expect(await events({})).toEqual(page);
      });

      test("an entry comes back with its type and with what else belongs to it", async () => {
        const plain = sampleEntry("alice", ["bob"], startOfTime);
        const entries = [
          { ...plain, type: "agreed", detail: { contract: "c0" } },
          { ...plain, type: "contract_ended", capability: null, detail: { contract: "c0" } },
        ] as const;
        expect(await commit(entryUnit(...entries))).toEqual(["ok"]);
        expect(await told({})).toEqual(entries);
      });

      test("an entry is found by whoever did it and whom it concerns, and by no handoff or correlation", async () => {
        await commit(entryUnit(sampleEntry("alice", ["bob", "carol"], startOfTime)), unit(accept(sampleHandoff("a"))));
        const entries = async (query: Partial<EventQuery>) =>
          (await told(query)).filter(({ type }) => (type as string) === "looked").length;
        expect(await entries({ agent: "alice" })).toBe(1);
        expect(await entries({ agent: "bob" })).toBe(1);
        expect(await entries({ agent: "carol" })).toBe(1);
        expect(await entries({ agent: "dave" })).toBe(0);
        expect(await entries({ agent: "car" })).toBe(0);
        expect(await entries({ agent: "carol", namespace: "other" })).toBe(0);
        expect(await entries({ handoff: "a" })).toBe(0);
        expect(await entries({ correlation_id: "a" })).toBe(0);
        expect(await entries({ at_from: startOfTime + 1 })).toBe(0);
      });

      test("an entry whose unit conflicts is not in the log, and takes no position", async () => {
        const records = [{ namespace: ns, kind: "k", key: "r", expected_version: 3, value: 1 }];
        const entry = sampleEntry("alice", ["bob"], startOfTime);
        expect(await commit({ ...entryUnit(entry), records }, entryUnit(entry))).toEqual(["conflict", "ok"]);
        expect(await events({})).toMatchObject({ events: [{ pos: 1 }], head: 1 });
      });

      test("an entry goes by age, and not before a handoff that was accepted earlier", async () => {
        const at = (n: number) => startOfTime + n;
        await commit(entryUnit(sampleEntry("alice", ["bob"], at(0))));
        const a = await commitOne(accept(sampleHandoff("a", { accepted_at: at(1) })));
        await commit(entryUnit(sampleEntry("alice", ["bob"], at(2))));
        expect(await store.prune(at(9), at(0), 10)).toEqual({ events: 0, keys: 0 });
        expect(await store.prune(at(9), at(9), 10)).toEqual({ events: 1, keys: 0 });
        expect(await events({})).toMatchObject({ floor: 1, head: 3 });
        await commitOne(purge(await commitOne(end(a, "completed", 200)), at(1)));
        await store.prune(at(9), at(3), 10);
        expect((await told({ agent: "bob" })).map(({ type }) => type as string)).not.toContain("looked");
      });

      test("an entry tells the time as an event does", async () => {
        await commit(entryUnit(sampleEntry("alice", ["bob"], startOfTime + 7)));
        expect(await store.latest()).toBe(startOfTime + 7);
      });

      test("the latest time is that of the newest event", async () => {
        expect(await store.latest()).toBe(0);
        await commitOne(accept(sampleHandoff("a", { accepted_at: startOfTime + 5 })));
        expect(await store.latest()).toBe(startOfTime + 5);
      });
    });

    describe("retention", () => {
      test("a purge drops state, bodies, labels and references; the key and the events stay", async () => {
        const bodies = [sampleBody("handoff", 0)];
        const labels = { team: "blue" };
        const a = await commitOne(accept(sampleHandoff("a", { labels }), { bodies, artifacts: ["f00"] }));
        const ended = await commitOne(end(a, "completed", 200));
        const key_until = startOfTime + 30 * day_ms;
        await commitOne(purge(ended, key_until));
        expect(await load("a")).toBeNull();
        expect(await store.wasPurged(ns, "a")).toBe(true);
        expect(await store.wasPurged("other", "a")).toBe(false);
        expect(await store.bodies(ns, "a")).toEqual([]);
        expect(await store.referrers(ns, "f00", 10)).toEqual([]);
        expect(await list({})).toEqual([]);
        expect(await list({ label: { key: "team", value: "blue" } })).toEqual([]);
        expect(await store.due(startOfTime + 999 * day_ms, 10)).toEqual([]);
        expect((await told({ handoff: "a" })).map(({ type }) => type)).toEqual(["accepted", "completed", "purged"]);
        expect(await store.key(ns, "alice", "a")).toEqual({ id: "a", content: "content-of-a" });
        expect(await commit(unit(accept(sampleHandoff("b", { idempotency_key: "a" }))))).toEqual(["conflict"]);

        expect(await store.prune(key_until - 1, 0, 10)).toEqual({ events: 0, keys: 0 });
        expect(await store.prune(key_until, 0, 10)).toEqual({ events: 0, keys: 1 });
        expect(await store.key(ns, "alice", "a")).toBeNull();
        await commitOne(accept(sampleHandoff("b", { idempotency_key: "a" })));
      });

      test("keys of handoffs that are still there are never pruned", async () => {
        await commitOne(accept(sampleHandoff("a")));
        expect(await store.prune(startOfTime + 999 * day_ms, 0, 10)).toEqual({ events: 0, keys: 0 });
        expect(await store.key(ns, "alice", "a")).not.toBeNull();
      });

      test("a purge of another version is a conflict", async () => {
        const a = await commitOne(accept(sampleHandoff("a")));
        const changedOnce = await commitOne(change(a));
        expect(await commit(unit(purge(a, startOfTime)))).toEqual(["conflict"]);
        expect(await load("a")).toEqual(changedOnce);
      });
    });

    describe("records", () => {
      const put = (key: string, expected_version: number, value: unknown, namespace = ns) =>
        recordUnit({ namespace, kind: "agent", key, expected_version, value });

      test("are written, changed and deleted by version", async () => {
        expect(await commit(put("bob", 0, { name: "Bob" }))).toEqual(["ok"]);
        expect(await commit(put("bob", 0, { name: "Eve" }))).toEqual(["conflict"]);
        expect(await commit(put("bob", 1, null), put("bob", 1, "stale"))).toEqual(["ok", "conflict"]);
        expect(await store.record(ns, "agent", "bob")).toEqual({
          namespace: ns,
          kind: "agent",
          key: "bob",
          version: 2,
          value: null,
        });
        expect(await commit(put("bob", 1, undefined))).toEqual(["conflict"]);
        expect(await commit(put("bob", 2, undefined))).toEqual(["ok"]);
        expect(await store.record(ns, "agent", "bob")).toBeNull();
        expect(await commit(put("bob", 0, "anew"))).toEqual(["ok"]);
      });

      test("of one unit are written, changed and dropped together, with its entries, or none of them is", async () => {
        const write = (kind: string, key: string, expected_version: number, value: unknown) => {
          return { namespace: ns, kind, key, expected_version, value };
        };
        await commit(
          recordUnit(write("round", "old", 0, 1), write("round", "open", 0, 1), write("word", "m", 0, "said")),
        );
        const together = [
          write("round", "old", 1, undefined),
          write("round", "open", 1, 2),
          write("round", "new", 0, 1),
          write("word", "m", 1, undefined),
        ];
        const entries = [sampleEntry("alice", ["bob"], startOfTime)];
        const contents = async () =>
          [...(await store.records(ns, "round")), ...(await store.records(ns, "word"))].map(
            ({ kind, key, version, value }) => [kind, key, version, value],
          );
        const before = await contents();
        const stale = write("word", "other", 3, "stale");
        expect(await commit({ writes: [], records: [...together, stale], entries })).toEqual(["conflict"]);
        expect([await contents(), await told({})]).toEqual([before, []]);
        expect(await commit({ writes: [], records: together, entries })).toEqual(["ok"]);
        expect(await contents()).toEqual([
          ["round", "new", 1, 1],
          ["round", "open", 2, 2],
        ]);
        expect(await told({})).toEqual(entries);
      });

      test("come back as they were: megabytes, any text, numbers and names of members that mean something elsewhere", async () => {
        const value = {
          text: '\u0000 \u001f \u2028 "\\ ç 漢 🤝',
          numbers: [0, 1.5, -1e-7, 1e21, Number.MAX_SAFE_INTEGER],
          members: { "": 1, "a.b/c~d": { toString: null }, "🤝": [] },
          long: "x".repeat(4_000_000),
        };
        expect(await commit(put("large", 0, value))).toEqual(["ok"]);
        if (opened.reopen !== undefined) store = await opened.reopen();
        expect((await store.record(ns, "agent", "large"))?.value).toEqual(value);
        expect((await store.records(ns, "agent"))[0]?.value).toEqual(value);
      });

      test("are listed by kind", async () => {
        await commit(put("b", 0, 2), put("a", 0, 1), put("c", 0, 3, "other"));
        const found = await store.records(ns, "agent");
        expect(found.map(({ key, value }) => [key, value])).toEqual([
          ["a", 1],
          ["b", 2],
        ]);
        expect(await store.records(ns, "token")).toEqual([]);
      });
    });

    test("the same names in two namespaces never mix", async () => {
      const other = "other";
      const causation = { id: "parent", fence: 1 };
      const same = {
        causation,
        correlation_id: "group",
        ordering_key: "lane",
        conversation_id: "chat",
        idempotency_key: "key",
        labels: { l: "v" },
      };
      const here = accept(sampleHandoff("a", { ...same, content: "here" }), {
        bodies: [sampleBody("handoff", 0, "here")],
        artifacts: ["f00"],
      });
      const there = accept(sampleHandoff("a", { ...same, namespace: other, content: "there" }), {
        bodies: [sampleBody("handoff", 0, "there")],
        artifacts: ["f00"],
      });
      await commitAll([here, there]);
      const ended = await commitOne(end(here.next, "failed", 500));

      expect(await load("a")).toEqual(ended);
      expect(await load("a", other)).toEqual(there.next);
      expect((await store.key(ns, "alice", "key"))?.content).toBe("here");
      expect((await store.key(other, "alice", "key"))?.content).toBe("there");
      expect((await store.body(other, "a", "handoff", 0))?.document).toContain("there");
      expect(await store.candidates({ namespace: ns, queues: ["capability:research"], agent: "b", limit: 9 })).toEqual(
        [],
      );
      expect(await store.laneMembers(ns, "lane", 9)).toEqual([]);
      expect(await store.laneMembers(other, "lane", 9)).toEqual(["a"]);
      expect(await store.openChildren(ns, "parent", 9)).toEqual([]);
      expect(await store.openChildren(other, "parent", 9)).toEqual(["a"]);
      const filters: readonly Partial<ListQuery>[] = [
        {},
        { from: "alice" },
        { party: "alice" },
        { capability: "research" },
        { correlation_id: "group" },
        { causation_id: "parent" },
        { conversation_id: "chat" },
        { label: { key: "l", value: "v" } },
      ];
      for (const filter of filters) {
        const page = await store.list({ namespace: other, order: "newest", limit: 9, ...filter });
        expect(page.handoffs).toEqual([there.next]);
      }
      expect(await list({ namespace: other, dead_letter: "any" })).toEqual([]);
      expect(await store.counts(ns)).toEqual({ failed: 1 });
      expect(await store.counts(other)).toEqual({ queued: 1 });
      expect(await told({ namespace: other })).toEqual(there.events);
      expect(await told({ namespace: other, handoff: "a" })).toEqual(there.events);
      expect(await told({ namespace: other, correlation_id: "group" })).toEqual(there.events);
      expect(await store.referrers(other, "f00", 9)).toEqual(["a"]);

      await commitOne(purge(ended, startOfTime));
      expect(await load("a", other)).toEqual(there.next);
      expect(await store.bodies(other, "a")).toHaveLength(1);
      expect(await store.referrers(other, "f00", 9)).toEqual(["a"]);
      expect(await list({ namespace: other, label: { key: "l", value: "v" } })).toEqual(["a"]);
    });

    test("space tells what is used", async () => {
      const space = await store.space();
      expect(space.used_bytes).toBeGreaterThan(0);
      if (space.free_bytes !== null) expect(space.free_bytes).toBeGreaterThan(0);
    });

    test("a copy made while running is a store with the same content", async () => {
      if (opened.copy === undefined) return;
      const a = await commitOne(accept(sampleHandoff("a"), { bodies: [sampleBody("handoff", 0)] }));
      const copy = await opened.copy();
      try {
        expect(await copy.load(ns, ["a"])).toEqual([a]);
        expect(await copy.bodies(ns, "a")).toEqual([sampleBody("handoff", 0)]);
        expect(await copy.commit([unit(deliver(a))])).toEqual(["ok"]);
        expect(await load("a")).toEqual(a);
      } finally {
        await copy.close();
      }
    });

    test("a closed store refuses", async () => {
      await store.close();
      await expect(store.load(ns, ["a"])).rejects.toThrow();
      await expect(store.commit([])).rejects.toThrow();
    });
  });
}
