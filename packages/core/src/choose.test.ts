import { describe, expect, it } from "vitest";
import { choose, type FreeWorker, type Ready } from "./choose.ts";
import { readyItem as ready } from "./testing/routing-sample.ts";
import { start as now } from "./testing/sample.ts";

function worker(name: string, patch: Partial<FreeWorker> = {}): FreeWorker {
  const agent = name.slice(0, name.indexOf("-"));
  return { agent, worker: name, queues: new Set(["capability:summarize"]), slots: 1, since: now, ...patch };
}
function chosen(items: readonly Ready[], workers: readonly FreeWorker[], at = now): string[] {
  return choose(items, workers, at).map(({ id, worker }) => `${id}→${worker}`);
}

describe("choose", () => {
  it("gives the best rank first", () => {
    expect(
      chosen([ready("b", { rank: 2 }), ready("a", { rank: 3 }), ready("c", { rank: 1 })], [worker("bob-1")]),
    ).toEqual(["c→bob-1"]);
  });

  it("gives equal ranks in the order of their ids", () => {
    expect(chosen([ready("b"), ready("a")], [worker("bob-1", { slots: 2 })])).toEqual(["a→bob-1", "b→bob-1"]);
  });

  it("never gives a worker more than its free slots", () => {
    const items = ["a", "b", "c", "d"].map((id) => ready(id));
    expect(choose(items, [worker("bob-1", { slots: 2 }), worker("carol-1")], now)).toHaveLength(3);
  });

  it("gives work only to those who serve its queue", () => {
    expect(chosen([ready("a", { queue: "agent:carol" })], [worker("bob-1")])).toEqual([]);
  });

  it("a worker that asks for some capabilities gets nothing else that is sent to its agent", () => {
    const queue = "agent:bob";
    const items = [
      ready("a", { queue, capability: "b" }),
      ready("b", { queue }),
      ready("c", { queue, capability: null }),
    ];
    const queues = new Set([queue]);
    const choosy = worker("bob-1", { queues, slots: 9, only: new Set(["summarize"]) });
    expect(chosen(items, [choosy])).toEqual(["b→bob-1"]);
    expect(chosen(items, [choosy, worker("bob-2", { queues, slots: 9 })]).toSorted()).toEqual([
      "a→bob-2",
      "b→bob-1",
      "c→bob-2",
    ]);
  });

  it("never gives work to an excluded agent", () => {
    const items = [ready("a", { excluded: ["bob"] })];
    expect(chosen(items, [worker("bob-1"), worker("bob-2")])).toEqual([]);
    expect(chosen(items, [worker("bob-1"), worker("carol-1")])).toEqual(["a→carol-1"]);
  });

  it("does not let work that nobody may have hold back the rest", () => {
    expect(chosen([ready("a", { excluded: ["bob"] }), ready("b")], [worker("bob-1")])).toEqual(["b→bob-1"]);
  });

  it("prefers the worker with more free slots, then the one that waits longest", () => {
    expect(chosen([ready("a")], [worker("bob-1"), worker("bob-2", { slots: 3 })])).toEqual(["a→bob-2"]);
    expect(chosen([ready("a")], [worker("bob-1"), worker("bob-2", { since: now - 1 })])).toEqual(["a→bob-2"]);
  });

  describe("after an unacknowledged delivery", () => {
    const avoid = { agent: "bob", worker: "bob-1", until: now + 10 };

    it("prefers another worker, then another agent", () => {
      const all = [worker("bob-1", { slots: 9 }), worker("carol-1", { slots: 5 }), worker("bob-2")];
      expect(chosen([ready("a", { avoid })], all)).toEqual(["a→bob-2"]);
      expect(chosen([ready("a", { avoid })], all.slice(0, 2))).toEqual(["a→carol-1"]);
    });

    it("is held back for a busy one for a moment, not for ever", () => {
      const workers = [worker("bob-1"), worker("bob-2", { slots: 0 })];
      expect(chosen([ready("a", { avoid })], workers)).toEqual([]);
      expect(chosen([ready("a", { avoid })], workers, now + 10)).toEqual(["a→bob-1"]);
    });

    it("goes to the same worker where there is no other", () => {
      expect(chosen([ready("a", { avoid })], [worker("bob-1")])).toEqual(["a→bob-1"]);
    });
  });

  describe("after an answer to a parked question", () => {
    const prefer = { agent: "bob", until: now + 10 };

    it("prefers the same agent, also over one with more free slots", () => {
      const workers = [worker("carol-1", { slots: 5 }), worker("bob-2")];
      expect(chosen([ready("a", { prefer })], workers)).toEqual(["a→bob-2"]);
    });

    it("waits a moment for that agent while it is busy, then goes to another", () => {
      const workers = [worker("carol-1"), worker("bob-1", { slots: 0 })];
      expect(chosen([ready("a", { prefer })], workers)).toEqual([]);
      expect(chosen([ready("a", { prefer })], workers, now + 10)).toEqual(["a→carol-1"]);
    });

    it("goes to another at once where that agent has no worker", () => {
      expect(chosen([ready("a", { prefer })], [worker("carol-1")])).toEqual(["a→carol-1"]);
    });
  });
});
