/**
 * What every store must do, written against the interface alone: subject by subject in `conformance/`, and here what concerns all of a
 * store. A store's own test file runs it.
 */

import { describe, expect, test } from "vitest";
import { describeBodies } from "./conformance/bodies.conformance.ts";
import { describeCommit } from "./conformance/commit.conformance.ts";
import { describeDispatch } from "./conformance/dispatch.conformance.ts";
import { describeEvents } from "./conformance/events.conformance.ts";
import { describeList } from "./conformance/list.conformance.ts";
import { describeNamespaces } from "./conformance/namespaces.conformance.ts";
import { describeRecords } from "./conformance/records.conformance.ts";
import { describeRetention } from "./conformance/retention.conformance.ts";
import { accept, deliver, sampleBody, sampleHandoff, unit } from "./store.samples.ts";
import { ns, type OpenStore, TestedStore } from "./testing/tested-store.ts";

export function describeStore(name: string, open: () => Promise<OpenStore>): void {
  describe(name, () => {
    const tested = new TestedStore(open);
    const { commitOne, load } = tested;
    describeCommit(tested);
    describeBodies(tested);
    describeDispatch(tested);
    describeList(tested);
    describeEvents(tested);
    describeRetention(tested);
    describeRecords(tested);
    describeNamespaces(tested);

    test("space tells what is used", async () => {
      const space = await tested.store.space();
      expect(space.used_bytes).toBeGreaterThan(0);
      if (space.free_bytes !== null) expect(space.free_bytes).toBeGreaterThan(0);
    });

    test("a copy made while running is a store with the same content", async () => {
      const { opened } = tested;
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
      await tested.store.close();
      await expect(tested.store.load(ns, ["a"])).rejects.toThrow();
      await expect(tested.store.commit([])).rejects.toThrow();
    });
  });
}
