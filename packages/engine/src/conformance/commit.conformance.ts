/** What a store commits: units whole or not at all, held against the versions, ids and keys that are there. */

import type { HandoffEvent } from "@handfast/core";
import { describe, expect, test } from "vitest";
import {
  accept,
  acknowledge,
  change,
  changed,
  deliver,
  end,
  purge,
  recordUnit,
  sampleBody,
  sampleHandoff,
  startOfTime,
  unit,
} from "../store.samples.ts";
import { ns, type TestedStore } from "../testing/tested-store.ts";

export function describeCommit(tested: TestedStore): void {
  const { commit, commitAll, commitOne, load, list, events, told, reopen } = tested;

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
      await reopen();
      expect(await load("a")).toEqual(ending.next);
      expect((await load("a"))?.accepted.contract).toEqual(contract);
      expect((await told({ handoff: "a" })).at(-1)).toEqual(judged[0]);
    });

    test("unknown ids are null, in the order they were asked for", async () => {
      const handoff = await commitOne(accept(sampleHandoff("a")));
      expect(await tested.store.load(ns, ["x", "a", "y"])).toEqual([null, handoff, null]);
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
      expect(await tested.store.load(ns, ["a", "b"])).toEqual([a, b]);
      expect(await tested.store.bodies(ns, "a")).toEqual([]);
      expect(await tested.store.record(ns, "k", "r")).toBeNull();
      expect((await events({})).head).toBe((await events({})).events.length);
      expect(await told({ handoff: "a" })).toHaveLength(1);
    });

    test("an unexpected record version fails the handoffs of its unit too", async () => {
      const records = [{ namespace: ns, kind: "k", key: "r", expected_version: 3, value: 1 }];
      expect(await commit({ writes: [accept(sampleHandoff("a"))], records })).toEqual(["conflict"]);
      expect(await load("a")).toBeNull();
      expect(await tested.store.key(ns, "alice", "a")).toBeNull();
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
      const results = await tested.store.commit([unit(ours), unit(acknowledge(ours.next))]);
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
      expect(await tested.store.key(ns, "alice", "other")).toBeNull();
    });

    test("an idempotency key is taken once for each sender", async () => {
      await commitOne(accept(sampleHandoff("a", { idempotency_key: "once" })));
      const again = accept(sampleHandoff("b", { idempotency_key: "once" }));
      expect(await commit(unit(again))).toEqual(["conflict"]);
      expect(await load("b")).toBeNull();
      expect(await tested.store.key(ns, "alice", "once")).toEqual({ id: "a", content: "content-of-a" });
      await commitOne(accept(sampleHandoff("c", { idempotency_key: "once", from: "carol" })));
      expect(await tested.store.key(ns, "carol", "once")).toEqual({ id: "c", content: "content-of-c" });
    });

    test("a key that is the id of its handoff is taken; the id of a handoff with another key is not", async () => {
      await commitAll([accept(sampleHandoff("a")), accept(sampleHandoff("b", { idempotency_key: "once" }))]);
      expect(await tested.store.key(ns, "alice", "a")).toEqual({ id: "a", content: "content-of-a" });
      expect(await tested.store.key(ns, "carol", "a")).toBeNull();
      expect(await tested.store.key(ns, "alice", "b")).toBeNull();
      expect(await commit(unit(accept(sampleHandoff("c", { idempotency_key: "a" }))))).toEqual(["conflict"]);
      await commitOne(accept(sampleHandoff("c", { idempotency_key: "a", from: "carol" })));
      await commitOne(accept(sampleHandoff("d", { idempotency_key: "b" })));
      expect(await tested.store.key(ns, "alice", "b")).toEqual({ id: "d", content: "content-of-d" });
    });

    test("a key that was free when it was asked for is taken by the first of two in one commit", async () => {
      expect(await tested.store.key(ns, "alice", "once")).toBeNull();
      const one = accept(sampleHandoff("a", { idempotency_key: "once" }));
      const two = accept(sampleHandoff("b", { idempotency_key: "once" }));
      expect(await commit(unit(one), unit(two))).toEqual(["ok", "conflict"]);
      expect(await tested.store.key(ns, "alice", "once")).toEqual({ id: "a", content: "content-of-a" });
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
      expect(await tested.store.load(ns, ["a", "b"])).toEqual([null, null]);
    });

    test("an empty batch is nothing", async () => {
      expect(await tested.store.commit([])).toEqual([]);
    });

    test("what was committed is there after the store is opened again", async () => {
      if (tested.opened.reopen === undefined) return;
      const a = await commitOne(accept(sampleHandoff("a"), { bodies: [sampleBody("handoff", 0)], artifacts: ["f00"] }));
      const delivered = await commitOne(deliver(a));
      await commit(recordUnit({ namespace: ns, kind: "k", key: "r", expected_version: 0, value: { n: 1 } }));
      const before = await events({});
      await reopen();
      expect(await load("a")).toEqual(delivered);
      expect(await tested.store.body(ns, "a", "handoff", 0)).toEqual(sampleBody("handoff", 0));
      expect(await tested.store.referrers(ns, "f00", 10)).toEqual(["a"]);
      expect(await tested.store.record(ns, "k", "r")).toMatchObject({ version: 1, value: { n: 1 } });
      expect(await events({})).toEqual(before);
      expect(await tested.store.counts(ns)).toEqual({ delivered: 1 });
      await commitOne(acknowledge(delivered));
      expect((await events({ after_pos: before.head })).events).toHaveLength(1);
    });

    test("recover keeps what was committed and lets work go on", async () => {
      const a = await commitOne(accept(sampleHandoff("a")));
      await tested.store.recover();
      expect(await load("a")).toEqual(a);
      await commitOne(deliver(a));
      expect(await list({ state: "delivered" })).toEqual(["a"]);
    });
  });
}
