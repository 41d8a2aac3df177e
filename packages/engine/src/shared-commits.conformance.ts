/**
 * What every store must do with the commits of several nodes: each is held against what is there, whoever wrote it and whatever the node
 * that commits remembers of it.
 */

import { type Handoff, liveLease } from "@handfast/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SharedStores } from "./sharing.conformance.ts";
import {
  accept,
  acknowledge,
  change,
  deliver,
  end,
  purge,
  sampleHandoff,
  startOfTime,
  take,
  unit,
} from "./store.samples.ts";
import type { Beat, Expectation, Store, Write } from "./store.ts";

const at = (ms: number) => startOfTime + ms;

export function describeSharedCommits(
  name: string,
  open: () => Promise<Pick<SharedStores, "one" | "other" | "close">>,
): void {
  describe(`${name}: commits of several nodes`, () => {
    let one: Store;
    let other: Store;
    let close: () => Promise<void>;
    beforeEach(async () => {
      ({ one, other, close } = await open());
    });
    afterEach(() => close());

    const write = async (store: Store, ...writes: Write[]): Promise<Handoff> => {
      for (const each of writes) expect(await store.commit([unit(each)])).toEqual(["ok"]);
      const last = writes.at(-1)?.next;
      if (last === undefined) throw new Error("nothing was written");
      return last;
    };
    const read = async (store: Store, id: string) => (await store.load("default", [id]))[0] ?? null;
    const beat = (store: Store, id: string, fence: number, ms: number, patch: Partial<Beat> = {}) =>
      store.sharing?.beat([
        { namespace: "default", id, agent: "bob", worker: "bob-1", fence, at: at(ms), progress: null, ...patch },
      ]);
    /** Leased and acknowledged, all of it written by this node. */
    const leased = (store: Store, id: string) => {
      const accepted = accept(sampleHandoff(id));
      const delivered = deliver(accepted.next);
      return write(store, accepted, delivered, acknowledge(delivered.next));
    };
    const hearing = (ending: Write, ms: number, fence = 1): Write => ({ ...ending, heard: { fence, at: at(ms) } });

    describe("a handoff that this node wrote last", () => {
      it("and nobody since, is written again", async () => {
        const working = await leased(one, "h1");
        await write(one, end(working, "completed", 200));
        expect(await read(other, "h1")).toMatchObject({ version: 4, status: { state: "completed" } });
      });

      it("and another node since, is a conflict at the version it had; at the one it has, it is written", async () => {
        const working = await leased(one, "h1");
        const canceled = await write(other, end(working, "canceled", 410));
        expect(await one.commit([unit(end(working, "completed", 200))])).toEqual(["conflict"]);
        expect(await read(one, "h1")).toMatchObject({ version: 4, status: { state: "canceled" } });
        expect(await one.counts("default")).toEqual({ canceled: 1 });
        await write(one, take(canceled));
        expect(await read(other, "h1")).toMatchObject({ version: 5 });
      });

      it("costs the other units of its commit nothing where it conflicts", async () => {
        const [a, b] = [await leased(one, "a"), await leased(one, "b")];
        await write(other, end(a, "canceled", 410));
        const units = [end(b, "completed", 200), end(a, "completed", 200), accept(sampleHandoff("c"))];
        expect(await one.commit(units.map((each) => unit(each)))).toEqual(["ok", "conflict", "ok"]);
        expect(await other.counts("default")).toEqual({ canceled: 1, completed: 1, queued: 1 });
        const { events } = await one.events({ namespace: "default", after_pos: 0, limit: 100 });
        expect(events.map(({ pos }) => pos)).toEqual(events.map((_, nth) => (events[0]?.pos ?? 0) + nth));
        expect(events).toHaveLength(3 + 3 + 1 + 1 + 1);
      });

      it("is found by what it is now, by whichever nodes it came there", async () => {
        const accepted = await write(one, accept(sampleHandoff("h1")));
        const delivered = await write(other, deliver(accepted));
        const given_back = await write(one, change(delivered, { status: accepted.status }));
        expect(await other.held("default", "bob", "bob-1")).toEqual([]);
        const again = await write(one, deliver(given_back, "carol", "carol-1"));
        expect(await other.held("default", "carol", "carol-1")).toEqual(["h1"]);
        await write(other, end(again, "failed", 500));
        const dead = await one.list({ namespace: "default", dead_letter: "open", order: "oldest", limit: 10 });
        expect(dead.handoffs.map(({ accepted: { id } }) => id)).toEqual(["h1"]);
        expect(await one.leases()).toEqual([]);
      });

      it("is a conflict where another node purged it", async () => {
        const ended = await write(one, end(await leased(one, "h1"), "completed", 200));
        await write(other, purge(ended, at(1_000)));
        expect(await one.commit([unit(take(ended))])).toEqual(["conflict"]);
        expect(await read(one, "h1")).toBeNull();
      });
    });

    it("an id or a key that another node has taken is a conflict, also of two in the same moment", async () => {
      await write(one, accept(sampleHandoff("a", { idempotency_key: "k" })));
      expect(await other.commit([unit(accept(sampleHandoff("a", { idempotency_key: "l" })))])).toEqual(["conflict"]);
      expect(await other.commit([unit(accept(sampleHandoff("b", { idempotency_key: "k" })))])).toEqual(["conflict"]);
      for (let round = 0; round < 10; round += 1) {
        const twin = (id: string) => unit(accept(sampleHandoff(`${id} ${round}`, { idempotency_key: `k ${round}` })));
        const results = await Promise.all([one.commit([twin("x")]), other.commit([twin("y")])]);
        expect(results.flat().toSorted()).toEqual(["conflict", "ok"]);
      }
    });

    it("of two nodes that write the same handoff in the same moment one does", async () => {
      for (let round = 0; round < 10; round += 1) {
        const working = await leased(one, `h${round}`);
        const results = await Promise.all([
          one.commit([unit(end(working, "completed", 200))]),
          other.commit([unit(end(working, "canceled", 410))]),
        ]);
        expect(results.flat().toSorted()).toEqual(["conflict", "ok"]);
      }
      const { completed = 0, canceled = 0 } = await one.counts("default");
      expect(completed + canceled).toBe(10);
    });

    // Whoever wrote the row last need not read it again, and must find out all the same.
    describe.each(["this", "another"])("what was heard of a holder, of a handoff that %s node wrote last", (writer) => {
      let working: Handoff;
      beforeEach(async () => {
        working = await leased(writer === "this" ? one : other, "h1");
      });

      it("since a decision is a conflict with it", async () => {
        await beat(other, "h1", 1, 20);
        expect(await one.commit([unit(hearing(end(working, "expired", 408), 10))])).toEqual(["conflict"]);
        expect(await read(one, "h1")).toMatchObject({ version: 3, status: { state: "working" } });
        expect(liveLease((await read(one, "h1")) ?? working)?.beat_at).toBe(at(20));
      });

      it("and known to a decision, is none", async () => {
        await beat(other, "h1", 1, 20);
        await write(one, hearing(end(working, "expired", 408), 20));
      });

      it("since a decision that does not go by it, is none", async () => {
        await beat(other, "h1", 1, 20);
        await write(one, end(working, "canceled", 410));
      });

      it("costs the other units of the commit nothing", async () => {
        const free = await leased(one, "h2");
        await beat(other, "h1", 1, 20);
        const units = [hearing(end(working, "expired", 408), 10), hearing(end(free, "expired", 408), 10)];
        expect(await one.commit(units.map((each) => unit(each)))).toEqual(["conflict", "ok"]);
      });

      it("under a fence that has passed is none", async () => {
        await beat(other, "h1", 1, 20);
        const queued = await write(one, change(working, { status: sampleHandoff("h1").status }));
        const again = await write(one, deliver(queued));
        await write(one, hearing(end(again, "expired", 408), 10, 2));
      });
    });

    describe("a beat", () => {
      it("is known to every node's reading, with its progress; an older one that comes later changes nothing", async () => {
        const working = await leased(one, "h1");
        const progress = { fraction: 0.5, note: "half", at: at(20) };
        expect(await beat(other, "h1", 1, 20, { progress })).toEqual([true]);
        expect(await beat(one, "h1", 1, 10)).toEqual([true]);
        const seen = await read(one, "h1");
        expect(liveLease(seen ?? working)?.beat_at).toBe(at(20));
        expect(seen?.progress).toEqual(progress);
      });

      it("of a lease that is over, or is another's by now, is said to have come too late", async () => {
        const [a, b] = [await leased(one, "a"), await leased(one, "b")];
        await write(other, end(a, "canceled", 410));
        const queued = await write(other, change(b, { status: sampleHandoff("b").status }));
        await write(other, deliver(queued, "carol", "carol-1"));
        await leased(one, "c");
        const beats = ["a", "b", "c", "never"].map((id) => {
          return { namespace: "default", id, agent: "bob", worker: "bob-1", fence: 1, at: at(20), progress: null };
        });
        expect(await one.sharing?.beat(beats)).toEqual([false, false, true, false]);
        expect(liveLease((await read(one, "b")) ?? b)?.beat_at).toBe(at(0));
      });
    });

    describe("what a unit expects", () => {
      const expecting = (id: string, expects: Partial<Expectation>) => ({
        ...unit(accept(sampleHandoff(id))),
        expects: { handoffs: [], lanes: [], ...expects },
      });
      const named = { namespace: "default", id: "parent" };

      it("of a handoff that it does not write, is held against what another node made of it", async () => {
        const parent = await leased(one, "parent");
        const handoffs = [{ ...named, version: parent.version }];
        expect(await one.commit([expecting("a", { handoffs })])).toEqual(["ok"]);
        await write(other, end(parent, "canceled", 410));
        expect(await one.commit([expecting("b", { handoffs })])).toEqual(["conflict"]);
        expect(await read(one, "b")).toBeNull();
      });

      it("of a lane, is held against who is in it; what was decided on a conflict there, conflicts", async () => {
        const lane = { namespace: "default", lane: "l", limit: 8 };
        const inLane = (id: string) => accept(sampleHandoff(id, { ordering_key: "l" }));
        const seen = (members: readonly string[]) => ({ handoffs: [], lanes: [{ ...lane, members }] });
        expect(await one.commit([{ ...unit(inLane("a")), expects: seen([]) }])).toEqual(["ok"]);
        const late = [inLane("b"), inLane("c")].map((each) => ({ ...unit(each), expects: seen([]) }));
        expect(await other.commit([...late, unit(accept(sampleHandoff("d")))])).toEqual(["conflict", "conflict", "ok"]);
        expect(await other.commit([{ ...unit(inLane("b")), expects: seen(["a"]) }])).toEqual(["ok"]);
        expect(await one.laneMembers("default", "l", 8)).toEqual(["a", "b"]);
      });
    });

    it("what one node keeps for its next commit the other passes over until then", async () => {
      const query = { namespace: "default", queues: ["capability:research"], agent: "", limit: 1 };
      const ids = async (store: Store) => (await store.candidates(query)).map(({ id }) => id);
      const a = await write(one, accept(sampleHandoff("a")));
      await write(one, accept(sampleHandoff("b")));
      expect(await ids(one)).toEqual(["a"]);
      expect(await ids(other)).toEqual(["b"]);
      expect(await one.commit([unit(deliver(a))])).toEqual(["ok"]);
      expect(await other.commit([])).toEqual([]);
      expect(await ids(one)).toEqual(["b"]);
      expect(await one.commit([])).toEqual([]);
    });

    it("what stays is given to its own node first, and to the others after a moment; what does not, to all at once", async () => {
      const query = { namespace: "default", queues: ["capability:research"], agent: "", limit: 9 };
      const ids = async (store: Store, stays_ms: number) => {
        const found = (await store.candidates({ ...query, stays_ms })).map(({ id }) => id);
        expect(await store.commit([])).toEqual([]);
        return found;
      };
      const now = (await one.sharing?.now()) ?? 0;
      // However long the test takes: what is accepted now stays for a long moment still, and for a short one no more.
      const ready = (id: string, accepted_at: number, stays: boolean) =>
        unit({ ...accept(sampleHandoff(id, { accepted_at })), stays });
      await one.commit([ready("old", now - 600_000, true)]);
      await one.commit([ready("fresh", now, true)]);
      await one.commit([ready("anybody's", now + 1, false)]);
      // By a clock that was ahead of the one there is now.
      await one.commit([ready("ahead", now + 600_000, true)]);
      expect(await ids(one, 60_000)).toEqual(["old", "fresh", "anybody's", "ahead"]);
      expect(await ids(other, 60_000)).toEqual(["old", "anybody's", "ahead"]);
      expect(await ids(other, 3_600_000)).toEqual(["anybody's"]);
    });
  });
}
