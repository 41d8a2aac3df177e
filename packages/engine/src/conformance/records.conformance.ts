/** Records of a store: written, changed and dropped by version. */

import { describe, expect, test } from "vitest";
import { recordUnit, sampleEntry, startOfTime } from "../store.samples.ts";
import { ns, type TestedStore } from "../testing/tested-store.ts";

export function describeRecords(tested: TestedStore): void {
  const { commit, told, reopen } = tested;

  describe("records", () => {
    const put = (key: string, expected_version: number, value: unknown, namespace = ns) =>
      recordUnit({ namespace, kind: "agent", key, expected_version, value });

    test("are written, changed and deleted by version", async () => {
      expect(await commit(put("bob", 0, { name: "Bob" }))).toEqual(["ok"]);
      expect(await commit(put("bob", 0, { name: "Eve" }))).toEqual(["conflict"]);
      expect(await commit(put("bob", 1, null), put("bob", 1, "stale"))).toEqual(["ok", "conflict"]);
      expect(await tested.store.record(ns, "agent", "bob")).toEqual({
        namespace: ns,
        kind: "agent",
        key: "bob",
        version: 2,
        value: null,
      });
      expect(await commit(put("bob", 1, undefined))).toEqual(["conflict"]);
      expect(await commit(put("bob", 2, undefined))).toEqual(["ok"]);
      expect(await tested.store.record(ns, "agent", "bob")).toBeNull();
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
        [...(await tested.store.records(ns, "round")), ...(await tested.store.records(ns, "word"))].map(
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
      await reopen();
      expect((await tested.store.record(ns, "agent", "large"))?.value).toEqual(value);
      expect((await tested.store.records(ns, "agent"))[0]?.value).toEqual(value);
    });

    test("are listed by kind", async () => {
      await commit(put("b", 0, 2), put("a", 0, 1), put("c", 0, 3, "other"));
      const found = await tested.store.records(ns, "agent");
      expect(found.map(({ key, value }) => [key, value])).toEqual([
        ["a", 1],
        ["b", 2],
      ]);
      expect(await tested.store.records(ns, "token")).toEqual([]);
    });
  });
}
