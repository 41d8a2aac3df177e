/** What a store lists and counts handoffs by, in pages that lose and repeat nothing. */

import { describe, expect, test } from "vitest";
import { accept, change, deliver, end, purge, sampleHandoff, startOfTime, take } from "../store.samples.ts";
import type { ListQuery } from "../store.ts";
import { ns, type TestedStore } from "../testing/tested-store.ts";

export function describeList(tested: TestedStore): void {
  const { commitAll, commitOne, list } = tested;

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
        const page = await tested.store.list({
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
      expect((await tested.store.list({ namespace: ns, order: "oldest", limit: 2 })).after).toBeNull();
      expect((await tested.store.list({ namespace: ns, order: "oldest", limit: 1 })).after).not.toBeNull();
    });

    test("counts follow every change", async () => {
      expect(await tested.store.counts(ns)).toEqual({});
      const [a, b] = await commitAll([accept(sampleHandoff("a")), accept(sampleHandoff("b"))]);
      if (a === undefined || b === undefined) throw new Error("not written");
      expect(await tested.store.counts(ns)).toEqual({ queued: 2 });
      const delivered = await commitOne(deliver(a));
      expect(await tested.store.counts(ns)).toEqual({ queued: 1, delivered: 1 });
      const ended = await commitOne(end(delivered, "completed", 200));
      await commitOne(purge(ended, startOfTime));
      expect(await tested.store.counts(ns)).toEqual({ queued: 1 });
      await commitOne(accept(sampleHandoff("c", { namespace: "other" })));
      await commitOne(end(b, "failed", 500));
      expect(await tested.store.openBySender()).toEqual([{ namespace: "other", from: b.accepted.from, open: 1 }]);
    });

    test("a list sees what was committed before it was asked for", async () => {
      for (let n = 0; n < 20; n += 1) {
        await commitOne(accept(sampleHandoff(`n-${n}`)));
        expect(await list({ order: "newest", limit: 1 })).toEqual([`n-${n}`]);
      }
    });
  });
}
