/** What a store finds work by: what is ready, what is due, who holds it, what waits behind it. */

import { type Handoff, laneOf } from "@handfast/core";
import { describe, expect, test } from "vitest";
import { accept, change, deliver, end, sampleHandoff } from "../store.samples.ts";
import { ns, type TestedStore } from "../testing/tested-store.ts";

export function describeDispatch(tested: TestedStore): void {
  const { commitAll, commitOne } = tested;

  describe("dispatch", () => {
    const candidates = async (queues: readonly string[], agent = "bob", limit = 10) =>
      (await tested.store.candidates({ namespace: ns, queues, agent, limit })).map(({ id }) => id);
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
      expect(await tested.store.candidates({ namespace: ns, queues: [research], agent: "bob", limit: 1 })).toEqual([
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
      const [found] = await tested.store.candidates({ namespace: ns, queues: ["agent:bob"], agent: "bob", limit: 1 });
      expect(found).toMatchObject({ capability: "research", lane: null, conversation_id: null, version_range: null });
    });

    test("live leases are told with their agent, capability and sender, until they end", async () => {
      const [a, b] = await commitAll([accept(sampleHandoff("a")), accept(sampleHandoff("b", { to: "bob" }))]);
      if (a === undefined || b === undefined) throw new Error("no samples");
      expect(await tested.store.leases()).toEqual([]);
      const [held] = await commitAll([deliver(a, "carol"), deliver(b, "bob")]);
      const told = async () => (await tested.store.leases()).toSorted((one, other) => (one.id < other.id ? -1 : 1));
      expect(await told()).toEqual([
        { namespace: ns, id: "a", agent: "carol", capability: "research", from: a.accepted.from },
        { namespace: ns, id: "b", agent: "bob", capability: null, from: b.accepted.from },
      ]);
      if (held !== undefined) await commitOne(end(held, "completed", 200));
      expect(await told()).toEqual([{ namespace: ns, id: "b", agent: "bob", capability: null, from: b.accepted.from }]);
    });

    test("who served the newest delivered handoff of a conversation is found, by capability", async () => {
      const of = (id: string, patch: Partial<Handoff["accepted"]> = {}) =>
        sampleHandoff(id, { conversation_id: "chat", ...patch });
      const chat = (capability = "research", from: string | null = null) =>
        tested.store.lastServed(ns, { kind: "conversation", conversation_id: "chat", capability, from });
      expect(await chat()).toBeNull();
      const [first, second, direct, other] = await commitAll([
        accept(of("first")),
        accept(of("second")),
        accept(of("direct", { to: "eve", capability: "research" })),
        accept(of("other", { capability: "write" })),
        accept(of("queued")),
        accept(of("elsewhere", { conversation_id: "another chat" })),
      ]);
      if (first === undefined || second === undefined || direct === undefined || other === undefined) throw new Error();
      await commitAll([deliver(first, "bob"), deliver(direct, "eve"), deliver(other, "carol")]);
      expect([await chat(), await chat("write"), await chat("draw")]).toEqual(["bob", "carol", null]);
      const delivered = await commitOne(deliver(second, "dave"));
      await commitOne(end(delivered, "completed", 200, { find: { last_agent: "dave" } }));
      expect(await chat()).toBe("dave");
    });

    test("who served the newest of a conversation is found by who sent it", async () => {
      const chat = (from: string | null) =>
        tested.store.lastServed(ns, { kind: "conversation", conversation_id: "chat", capability: "research", from });
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
        tested.store.lastServed(ns, { kind: "sticky_order", lane: lane(ordering_key) });
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
      expect(await tested.store.nextDue()).toBe(100);
      expect(await tested.store.due(99, 10)).toEqual([]);
      expect(await tested.store.due(300, 10)).toEqual([
        { namespace: ns, id: "early" },
        { namespace: "other", id: "there" },
        { namespace: ns, id: "late" },
      ]);
      expect(await tested.store.due(300, 1)).toEqual([{ namespace: ns, id: "early" }]);
    });

    test("without anything to wake nothing is due next", async () => {
      expect(await tested.store.nextDue()).toBeNull();
    });

    test("the members of a lane come in accept order, whatever their ids, while they are open", async () => {
      const lane = { ordering_key: "lane" };
      const [z] = await commitAll(["z", "a", "m"].map((id) => accept(sampleHandoff(id, lane))));
      await commitOne(accept(sampleHandoff("elsewhere", { ordering_key: "other" })));
      if (z === undefined) throw new Error("not written");
      expect(await tested.store.laneMembers(ns, "lane", 10)).toEqual(["z", "a", "m"]);
      const waiting = await commitOne(change(z));
      expect(await tested.store.laneMembers(ns, "lane", 1)).toEqual(["z"]);
      await commitOne(end(waiting, "failed", 500));
      expect(await tested.store.laneMembers(ns, "lane", 10)).toEqual(["a", "m"]);
      expect(await tested.store.laneMembers(ns, "nowhere", 10)).toEqual([]);
    });

    test("what a worker holds is found until the lease ends", async () => {
      const [a, b, c] = await commitAll(["a", "b", "c"].map((id) => accept(sampleHandoff(id))));
      if (a === undefined || b === undefined || c === undefined) throw new Error("not written");
      const [held] = await commitAll([deliver(a), deliver(b, "bob", "bob-2"), deliver(c)]);
      if (held === undefined) throw new Error("not written");
      expect(await tested.store.held(ns, "bob", "bob-1")).toEqual(["a", "c"]);
      await commitOne(end(held, "completed", 200));
      expect(await tested.store.held(ns, "bob", "bob-1")).toEqual(["c"]);
      expect(await tested.store.held(ns, "bob", "bob-2")).toEqual(["b"]);
    });

    test("open children are those that end with their parent", async () => {
      const causation = { id: "parent", fence: 1 };
      const children = await commitAll([
        accept(sampleHandoff("one", { causation })),
        accept(sampleHandoff("two", { causation })),
        accept(sampleHandoff("free", { causation, detached: true })),
        accept(sampleHandoff("foreign", { causation: { id: "another", fence: 1 } })),
      ]);
      expect(await tested.store.openChildren(ns, "parent", 10)).toEqual(["one", "two"]);
      expect(await tested.store.openChildren(ns, "parent", 1)).toEqual(["one"]);
      if (children[0] === undefined) throw new Error("not written");
      await commitOne(end(children[0], "completed", 200));
      expect(await tested.store.openChildren(ns, "parent", 10)).toEqual(["two"]);
    });
  });
}
