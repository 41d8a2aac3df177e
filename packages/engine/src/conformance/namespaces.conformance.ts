/** Namespaces of a store have nothing in common, whatever names are used in them. */

import { expect, test } from "vitest";
import { accept, end, purge, sampleBody, sampleHandoff, startOfTime } from "../store.samples.ts";
import type { ListQuery } from "../store.ts";
import { ns, type TestedStore } from "../testing/tested-store.ts";

export function describeNamespaces(tested: TestedStore): void {
  const { commitAll, commitOne, load, list, told } = tested;

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
    expect((await tested.store.key(ns, "alice", "key"))?.content).toBe("here");
    expect((await tested.store.key(other, "alice", "key"))?.content).toBe("there");
    expect((await tested.store.body(other, "a", "handoff", 0))?.document).toContain("there");
    expect(
      await tested.store.candidates({ namespace: ns, queues: ["capability:research"], agent: "b", limit: 9 }),
    ).toEqual([]);
    expect(await tested.store.laneMembers(ns, "lane", 9)).toEqual([]);
    expect(await tested.store.laneMembers(other, "lane", 9)).toEqual(["a"]);
    expect(await tested.store.openChildren(ns, "parent", 9)).toEqual([]);
    expect(await tested.store.openChildren(other, "parent", 9)).toEqual(["a"]);
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
      const page = await tested.store.list({ namespace: other, order: "newest", limit: 9, ...filter });
      expect(page.handoffs).toEqual([there.next]);
    }
    expect(await list({ namespace: other, dead_letter: "any" })).toEqual([]);
    expect(await tested.store.counts(ns)).toEqual({ failed: 1 });
    expect(await tested.store.counts(other)).toEqual({ queued: 1 });
    expect(await told({ namespace: other })).toEqual(there.events);
    expect(await told({ namespace: other, handoff: "a" })).toEqual(there.events);
    expect(await told({ namespace: other, correlation_id: "group" })).toEqual(there.events);
    expect(await tested.store.referrers(other, "f00", 9)).toEqual(["a"]);

    await commitOne(purge(ended, startOfTime));
    expect(await load("a", other)).toEqual(there.next);
    expect(await tested.store.bodies(other, "a")).toHaveLength(1);
    expect(await tested.store.referrers(other, "f00", 9)).toEqual(["a"]);
    expect(await list({ namespace: other, label: { key: "l", value: "v" } })).toEqual(["a"]);
  });
}
