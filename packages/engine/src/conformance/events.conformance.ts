/** The log of a store: events and entries in one order, found by whom they concern, gone by age. */

import type { Handoff } from "@handfast/core";
import { describe, expect, test } from "vitest";
import {
  accept,
  deliver,
  end,
  entryUnit,
  purge,
  sampleEntry,
  sampleHandoff,
  startOfTime,
  unit,
} from "../store.samples.ts";
import type { EventQuery } from "../store.ts";
import { day_ms, ns, type TestedStore } from "../testing/tested-store.ts";

export function describeEvents(tested: TestedStore): void {
  const { commit, commitAll, commitOne, events, told, reopen } = tested;

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
      expect(await tested.store.prune(at(9), at(100), 10)).toEqual({ events: 0, keys: 0 });
      const drop = async (handoff: Handoff) =>
        commitOne(purge(await commitOne(end(handoff, "completed", 200)), startOfTime));
      for (const handoff of kept.slice(0, 2)) await drop(handoff);
      expect((await tested.store.prune(at(9), at(2), 1)).events).toBe(1);
      expect((await tested.store.prune(at(9), at(2), 10)).events).toBe(1);
      expect((await tested.store.prune(at(9), startOfTime + 999 * day_ms, 10)).events).toBe(0);
      const page = await events({});
      expect(page.events.slice(0, 2)).toEqual(before.slice(2));
      expect(page.floor).toBe(before[1]?.pos);
      for (const handoff of kept.slice(2)) await drop(handoff);
      const all = (await events({})).events;
      expect((await tested.store.prune(at(9), startOfTime + 999 * day_ms, 100)).events).toBe(all.length);
      const empty = await events({});
      expect(empty).toMatchObject({ events: [], floor: all.at(-1)?.pos, head: all.at(-1)?.pos });
      expect(await tested.store.latest()).toBeGreaterThanOrEqual(at(3));
      await reopen();
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
      await reopen();
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
      expect(await tested.store.prune(at(9), at(0), 10)).toEqual({ events: 0, keys: 0 });
      expect(await tested.store.prune(at(9), at(9), 10)).toEqual({ events: 1, keys: 0 });
      expect(await events({})).toMatchObject({ floor: 1, head: 3 });
      await commitOne(purge(await commitOne(end(a, "completed", 200)), at(1)));
      await tested.store.prune(at(9), at(3), 10);
      expect((await told({ agent: "bob" })).map(({ type }) => type as string)).not.toContain("looked");
    });

    test("an entry tells the time as an event does", async () => {
      await commit(entryUnit(sampleEntry("alice", ["bob"], startOfTime + 7)));
      expect(await tested.store.latest()).toBe(startOfTime + 7);
    });

    test("the latest time is that of the newest event", async () => {
      expect(await tested.store.latest()).toBe(0);
      await commitOne(accept(sampleHandoff("a", { accepted_at: startOfTime + 5 })));
      expect(await tested.store.latest()).toBe(startOfTime + 5);
    });
  });
}
