/** What a store drops when a handoff is purged, and what stays of it. */

import { describe, expect, test } from "vitest";
import { accept, change, end, purge, sampleBody, sampleHandoff, startOfTime, unit } from "../store.samples.ts";
import { day_ms, ns, type TestedStore } from "../testing/tested-store.ts";

export function describeRetention(tested: TestedStore): void {
  const { commit, commitOne, load, list, told } = tested;

  describe("retention", () => {
    test("a purge drops state, bodies, labels and references; the key and the events stay", async () => {
      const bodies = [sampleBody("handoff", 0)];
      const labels = { team: "blue" };
      const a = await commitOne(accept(sampleHandoff("a", { labels }), { bodies, artifacts: ["f00"] }));
      const ended = await commitOne(end(a, "completed", 200));
      const key_until = startOfTime + 30 * day_ms;
      await commitOne(purge(ended, key_until));
      expect(await load("a")).toBeNull();
      expect(await tested.store.wasPurged(ns, "a")).toBe(true);
      expect(await tested.store.wasPurged("other", "a")).toBe(false);
      expect(await tested.store.bodies(ns, "a")).toEqual([]);
      expect(await tested.store.referrers(ns, "f00", 10)).toEqual([]);
      expect(await list({})).toEqual([]);
      expect(await list({ label: { key: "team", value: "blue" } })).toEqual([]);
      expect(await tested.store.due(startOfTime + 999 * day_ms, 10)).toEqual([]);
      expect((await told({ handoff: "a" })).map(({ type }) => type)).toEqual(["accepted", "completed", "purged"]);
      expect(await tested.store.key(ns, "alice", "a")).toEqual({ id: "a", content: "content-of-a" });
      expect(await commit(unit(accept(sampleHandoff("b", { idempotency_key: "a" }))))).toEqual(["conflict"]);

      expect(await tested.store.prune(key_until - 1, 0, 10)).toEqual({ events: 0, keys: 0 });
      expect(await tested.store.prune(key_until, 0, 10)).toEqual({ events: 0, keys: 1 });
      expect(await tested.store.key(ns, "alice", "a")).toBeNull();
      await commitOne(accept(sampleHandoff("b", { idempotency_key: "a" })));
    });

    test("keys of handoffs that are still there are never pruned", async () => {
      await commitOne(accept(sampleHandoff("a")));
      expect(await tested.store.prune(startOfTime + 999 * day_ms, 0, 10)).toEqual({ events: 0, keys: 0 });
      expect(await tested.store.key(ns, "alice", "a")).not.toBeNull();
    });

    test("a purge of another version is a conflict", async () => {
      const a = await commitOne(accept(sampleHandoff("a")));
      const changedOnce = await commitOne(change(a));
      expect(await commit(unit(purge(a, startOfTime)))).toEqual(["conflict"]);
      expect(await load("a")).toEqual(changedOnce);
    });
  });
}
