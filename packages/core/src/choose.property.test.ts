/** What must hold of every choice, whatever is ready, whoever is free and however they stand. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { choose, type FreeWorker, type Ready } from "./choose.ts";
import { heldUntil } from "./held.ts";
import type { Routing, Standing } from "./routing.ts";
import { type RoutingData, readyItem, routingData, routingOf, standing } from "./testing/routing-sample.ts";
import { start as now } from "./testing/sample.ts";

const agents = ["ada", "bob", "eve", "fay", "gil"] as const;
const agent = fc.constantFrom(...agents);
const queue = "capability:summarize";
const soon = fc.integer({ min: -5_000, max: 15_000 }).map((ms) => now + ms);

const someStanding: fc.Arbitrary<Partial<Standing> & { readonly in_flight: number }> = fc.record({
  latency_ms: fc.integer({ min: 1, max: 10_000 }),
  p50_ms: fc.option(fc.integer({ min: 1, max: 10_000 }), { nil: null }),
  success: fc.double({ min: 0.01, max: 1, noNaN: true }),
  breached: fc.boolean(),
  ejected: fc.boolean(),
  lapsed: fc.boolean(),
  newcomer: fc.boolean(),
  version: fc.option(fc.constantFrom("1.0.0", "1.4.0", "2.0.0"), { nil: null }),
  max_concurrent: fc.option(fc.integer({ min: 1, max: 4 }), { nil: null }),
  in_flight: fc.integer({ min: 0, max: 4 }),
});

const someReady: fc.Arbitrary<Partial<Ready>> = fc.record({
  rank: fc.integer({ min: now - 50, max: now }),
  excluded: fc.subarray([...agents]),
  avoid: fc.option(fc.record({ agent, worker: fc.constantFrom(null, "ada-0", "bob-1"), until: soon }), { nil: null }),
  prefer: fc.option(fc.record({ agent, until: soon }), { nil: null }),
  ready_at: soon,
  deadline_at: fc.integer({ min: 1, max: 12_000 }).map((ms) => now + ms),
  version_range: fc.option(fc.constantFrom("^1", "^1.2", "2.x", "*"), { nil: null }),
  canary: fc.option(fc.constantFrom("1.x", "2.x", "9.x"), { nil: null }),
  lane: fc.option(fc.constantFrom("lane 1", "lane 2"), { nil: null }),
  conversation_id: fc.option(fc.constantFrom("chat 1", "chat 2"), { nil: null }),
});

interface World {
  readonly ready: readonly Ready[];
  readonly workers: readonly FreeWorker[];
  readonly data: RoutingData;
}

const world: fc.Arbitrary<World> = fc
  .record({
    items: fc.array(someReady, { maxLength: 12 }),
    seats: fc.array(fc.record({ agent, slots: fc.integer({ min: 0, max: 3 }) }), { maxLength: 8 }),
    standings: fc.tuple(...agents.map(() => someStanding)),
    served: fc.array(
      fc.record({
        kind: fc.constantFrom("sticky_order", "conversation"),
        of: fc.constantFrom("lane 1", "chat 1"),
        agent,
      }),
      { maxLength: 3 },
    ),
    draws: fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1, maxLength: 8 }),
  })
  .map(({ items, seats, standings, served, draws }) => ({
    ready: items.map((item, nth) => readyItem(`item-${nth}`, item)),
    workers: seats.map(({ agent: name, slots }, nth) => ({
      agent: name,
      worker: `${name}-${nth}`,
      queues: new Set([queue]),
      slots,
      since: now - nth,
    })),
    data: routingData(
      agents.map((name, nth) => standing(name, standings[nth])),
      { served: served as RoutingData["served"], draws },
    ),
  }));

function always(check: (world: World, chosen: ReturnType<typeof choose>, routing: Routing) => void): void {
  fc.assert(
    fc.property(world, (one) => {
      const routing = routingOf(one.data);
      check(one, choose(one.ready, one.workers, now, routingOf(one.data)), routing);
    }),
    { numRuns: 3_000 },
  );
}

/** What the filters leave, told a second time. */
function mayHave(name: string, item: Ready, routing: Routing): boolean {
  const known = routing.standing(name, "summarize");
  return (
    !item.excluded.includes(name) &&
    !known.lapsed &&
    (item.version_range === null || routing.inRange(known.version, item.version_range)) &&
    (known.p50_ms === null || known.p50_ms <= item.deadline_at - now)
  );
}
const isSound = (name: string, routing: Routing) => {
  const { breached, ejected } = routing.standing(name, "summarize");
  return !breached && !ejected;
};
const itemOf = ({ ready }: World, id: string): Ready => {
  const item = ready.find((one) => one.id === id);
  if (item === undefined) throw new Error(`no item ${id}`);
  return item;
};

describe("choose, whatever it is given", () => {
  it("gives nothing to anybody who may not have it", () => {
    always((one, chosen, routing) => {
      for (const { id, agent: name } of chosen) expect(mayHave(name, itemOf(one, id), routing)).toBe(true);
    });
  });

  it("gives each handoff once, and no worker more than its slots, no agent more than it takes at a time", () => {
    always((one, chosen, routing) => {
      expect(new Set(chosen.map(({ id }) => id)).size).toBe(chosen.length);
      for (const { worker, slots } of one.workers) {
        expect(chosen.filter((given) => given.worker === worker).length).toBeLessThanOrEqual(slots);
      }
      for (const name of agents) {
        const { max_concurrent } = routing.standing(name, "summarize");
        const given = chosen.filter((each) => each.agent === name).length;
        if (max_concurrent === null || given === 0) continue;
        expect(given + routing.inFlight(name, "summarize")).toBeLessThanOrEqual(max_concurrent);
      }
    });
  });

  it("gives nothing to a breached or ejected agent while another that may have it lives, busy or not, for as long as it may be held", () => {
    always((one, chosen, routing) => {
      for (const { id, agent: name, why } of chosen) {
        if (isSound(name, routing)) continue;
        const item = itemOf(one, id);
        if (now >= heldUntil(item, routing.sticky_ms)) continue;
        const others = one.workers.filter(
          (other) => mayHave(other.agent, item, routing) && isSound(other.agent, routing),
        );
        expect(others).toEqual([]);
        expect(["no_other", "preferred", "sticky_order", "conversation", "elsewhere"]).toContain(why.rule);
      }
    });
  });

  it("leaves nothing lying that a free worker may have, where nothing favours another", () => {
    always((one, chosen, routing) => {
      const left = one.ready.filter(({ id }) => !chosen.some((given) => given.id === id));
      for (const item of left) {
        const isHeld =
          (item.prefer !== null && now < item.prefer.until) ||
          (item.avoid !== null && now < item.avoid.until) ||
          ((item.lane !== null || item.conversation_id !== null) && now < heldUntil(item, routing.sticky_ms)) ||
          item.canary !== null;
        if (isHeld) continue;
        const free = one.workers.filter(({ agent: name, worker, slots }) => {
          const given = chosen.filter((each) => each.agent === name);
          const { max_concurrent } = routing.standing(name, "summarize");
          const room =
            (max_concurrent ?? Number.POSITIVE_INFINITY) - routing.inFlight(name, "summarize") - given.length;
          return (
            mayHave(name, item, routing) && room > 0 && slots > given.filter((each) => each.worker === worker).length
          );
        });
        const live = one.workers.filter(({ agent: name }) => mayHave(name, item, routing));
        const isAnySound = live.some(({ agent: name }) => isSound(name, routing));
        expect(free.filter(({ agent: name }) => !isAnySound || isSound(name, routing))).toEqual([]);
      }
    });
  });

  it("gives better ranks first", () => {
    always((one, chosen) => {
      const ranks = chosen.map(({ id }) => itemOf(one, id).rank);
      expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
    });
  });

  it("says how many it chose from, and never less than the one that got it", () => {
    always((_, chosen) => {
      for (const { why } of chosen) expect(why.among).toBeGreaterThanOrEqual(1);
    });
  });

  it("chooses the same again from the same numbers", () => {
    always((one, chosen) => expect(choose(one.ready, one.workers, now, routingOf(one.data))).toEqual(chosen));
  });
});

/** One handoff at a time, ten thousand times, each choice with numbers of its own. */
function drawn(standings: RoutingData["standings"], times = 10_000): ReadonlyMap<string, number> {
  const data = routingData(standings);
  let seed = 1;
  const draw = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const workers = standings.map(({ agent: name }) => ({
    agent: name,
    worker: `${name}-1`,
    queues: new Set([queue]),
    slots: 1,
    since: now,
  }));
  const counts = new Map<string, number>();
  for (let n = 0; n < times; n++) {
    const [given] = choose([readyItem("a")], workers, now, { ...routingOf(data), draw });
    if (given !== undefined) counts.set(given.agent, (counts.get(given.agent) ?? 0) + 1);
  }
  return counts;
}

describe("over many choices", () => {
  it("newcomers get their share, neither more nor less", () => {
    const counts = drawn([standing("ada"), standing("bob"), standing("new", { newcomer: true, latency_ms: 1 })]);
    // Five percent of 10,000; a standard deviation is 22.
    expect(Math.abs((counts.get("new") ?? 0) - 500)).toBeLessThan(110);
  });

  it("a share for newcomers is shared by them, however many they are", () => {
    const news = ["n1", "n2", "n3"].map((name) => standing(name, { newcomer: true }));
    const counts = drawn([standing("ada"), ...news]);
    const all = news.reduce((sum, { agent: name }) => sum + (counts.get(name) ?? 0), 0);
    expect(Math.abs(all - 500)).toBeLessThan(110);
    for (const { agent: name } of news) expect(counts.get(name) ?? 0).toBeGreaterThan(100);
  });

  it("the smaller the score, the more often: the better of any two always wins them both", () => {
    const names = ["a", "b", "c", "d", "e"];
    const counts = drawn(names.map((name, nth) => standing(name, { latency_ms: 100 + nth * 50 })));
    const got = names.map((name) => counts.get(name) ?? 0);
    expect(got).toEqual(got.toSorted((a, b) => b - a));
    // Of the ten pairs of five agents, the best is in four, the next wins three, and the worst none.
    for (const [nth, share] of [0.4, 0.3, 0.2, 0.1].entries()) {
      expect(Math.abs((got[nth] ?? 0) - share * 10_000)).toBeLessThan(300);
    }
    expect(got[4]).toBe(0);
  });

  it("agents that stand alike share alike", () => {
    const counts = drawn(["a", "b", "c", "d"].map((name) => standing(name)));
    for (const count of counts.values()) expect(Math.abs(count - 2_500)).toBeLessThan(300);
  });
});
