/** Budgets of a root handoff against what outcomes report, down the tree, with and without contracts. */

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Market, type Trader } from "./testing/market.ts";

let market: Market;
let root: Trader;
let levels: readonly Trader[];
beforeEach(async () => {
  market = await Market.open();
  root = await market.agent("root");
  levels = await Promise.all([1, 2, 3].map((level) => market.agent(`level-${level}`, [{ name: `work-${level}` }])));
});
afterEach(() => market.close());

interface Lease {
  readonly id: string;
  readonly fence: number;
}

function at(level: number): Trader {
  const trader = levels[level - 1];
  if (trader === undefined) throw new Error(`there is no level ${level}`);
  return trader;
}

/** The root's handoff and one below each, all held: the lease of each level. */
async function held(budget: object): Promise<readonly [Lease, Lease, Lease]> {
  await root.submit({ capability: "work-1", input: 1, budget });
  const leases: Lease[] = [await at(1).claim()];
  for (const level of [2, 3]) {
    const got = await child(level - 1, leases[level - 2], { capability: `work-${level}` });
    expect(got.status).toBe(202);
    leases.push(await at(level).claim());
  }
  return leases as unknown as readonly [Lease, Lease, Lease];
}

/** A child of what this level holds. */
async function child(level: number, lease: Lease | undefined, more: object) {
  await at(level).act(lease?.id ?? "", "ack", { fence: lease?.fence });
  const causation = { id: lease?.id, fence: lease?.fence };
  return at(level).submit({ input: 1, causation, ...more });
}

const spentBy = async (id: string) => (await market.operator("GET", `/v1/handoffs/${id}`)).body.spent;

describe("a budget of the root", () => {
  it("is charged by what is done three levels below, once", async () => {
    const [one, two, three] = await held({ cost: 1_000, tokens: 1_000 });
    await at(3).act(three.id, "complete", { fence: three.fence, output: 1, usage: { cost: 30, tokens: 3 } });
    await at(2).act(two.id, "complete", { fence: two.fence, output: 1, usage: { cost: 20, tokens: 2 } });
    await at(1).act(one.id, "complete", { fence: one.fence, output: 1, usage: { cost: 10, tokens: 1 } });
    expect(await spentBy(one.id)).toEqual({ cost: 60, tokens: 6, handoffs: 2 });
  });

  it.each([
    ["cost", { cost: 50 }, { cost: 50 }],
    ["tokens", { tokens: 50 }, { tokens: 50 }],
  ])("of %s that is spent at the bottom lets nobody begin anything more, at any level", async (_, budget, usage) => {
    const [one, two, three] = await held(budget);
    await at(3).act(three.id, "complete", { fence: three.fence, output: 1, usage });
    for (const [level, lease] of [
      [1, one],
      [2, two],
    ] as const) {
      const got = await child(level, lease, { capability: "work-3" });
      expect([got.status, got.body.reason]).toEqual([402, "budget_spent"]);
    }
  });

  it("of handoffs counts those at every level", async () => {
    const [one, two, three] = await held({ handoffs: 3 });
    expect((await child(3, three, { capability: "work-1" })).status).toBe(202);
    for (const [level, lease] of [
      [1, one],
      [2, two],
      [3, three],
    ] as const) {
      expect((await child(level, lease, { capability: "work-1" })).body.reason).toBe("budget_spent");
    }
    expect((await spentBy(one.id)).handoffs).toBe(3);
  });

  it("is charged for attempts that failed too, and is kept across a restart", async () => {
    const [one, , three] = await held({ cost: 100 });
    const error = { reason: "broken", message: "It broke." };
    await at(3).act(three.id, "fail", { fence: three.fence, error, retryable: true, usage: { cost: 60 } });
    await market.restart();
    expect((await spentBy(one.id)).cost).toBe(60);
    await market.clock.advance(5_000);
    const again = await at(3).claim();
    await at(3).act(again.id, "complete", { fence: again.fence, output: 1, usage: { cost: 40 } });
    expect((await spentBy(one.id)).cost).toBe(100);
    expect((await child(1, one, { capability: "work-2" })).status).toBe(402);
  });

  it("narrows below: a child's larger budget is only what is left", async () => {
    await root.submit({ capability: "work-1", input: 1, budget: { cost: 100 } });
    const one = await at(1).claim();
    const got = await child(1, one, { capability: "work-2", budget: { cost: 1_000_000 } });
    expect(got.body.handoff.budget.cost).toBe(100);
  });
});

describe("a budget above a contract", () => {
  it("is charged the agreed price three levels below, whatever is reported", async () => {
    const dear = await market.agent("dear", [{ name: "upper" }], { upper: { amount: 40, per: "handoff" } });
    const { contract_id: contract } = await at(3).contract({ capability: "upper" });
    const [one, , three] = await held({ cost: 100 });
    for (const [times, cost] of [
      [1, 40],
      [2, 80],
      [3, 120],
    ] as const) {
      const got = await child(3, three, { contract });
      expect([times, got.status]).toEqual([times, 202]);
      const lease = await dear.claim();
      await dear.act(lease.id, "complete", { fence: lease.fence, output: 1, usage: { cost: 9_999 } });
      expect((await spentBy(one.id)).cost).toBe(cost);
    }
    expect((await child(3, three, { contract })).body.reason).toBe("budget_spent");
    const { fulfilment } = (await at(3).get(`/v1/contracts/${contract}`)).body;
    expect(fulfilment).toMatchObject({ fulfilled: 0, breaches: 3, by_reason: { cost_above_price: 3 } });
  });

  it("refuses a submit under a contract as any other, once it is spent", async () => {
    await market.agent("dear", [{ name: "upper" }], { upper: { amount: 40, per: "handoff" } });
    const { contract_id: contract } = await at(2).contract({ capability: "upper" });
    const [, two, three] = await held({ cost: 10 });
    await at(3).act(three.id, "complete", { fence: three.fence, output: 1, usage: { cost: 10 } });
    const got = await child(2, two, { contract });
    expect([got.status, got.body.reason]).toEqual([402, "budget_spent"]);
    expect((await at(2).get(`/v1/contracts/${contract}`)).body.fulfilment).toMatchObject({ breaches: 0, uncounted: 0 });
  });
});

describe("what a tree has cost", () => {
  const price = { amount: 40, per: "handoff" } as const;
  /** Level 1 offers the same as the agent that works for level 3, below it. */
  async function tree(budget: object) {
    await at(1).offers([{ name: "work-1" }, { name: "upper" }]);
    const dear = await market.agent("dear", [{ name: "upper" }], { upper: price });
    const { contract_id: contract } = await at(3).contract({ capability: "upper", agents: ["dear"] });
    const leases = await held(budget);
    await child(3, leases[2], { contract });
    await dear.works(1, { usage: { cost: price.amount, tokens: 7 } });
    return leases;
  }
  const view = async (trader: Trader, id: string) => (await trader.get(`/v1/handoffs/${id}`)).body;

  it("is not told to a rival above, who would learn a single price by it, and is to everybody else", async () => {
    const [one, two] = await tree({ cost: 100 });
    expect(await view(at(1), one.id)).toMatchObject({
      spent: { cost: null, tokens: 7, handoffs: 3 },
      cost_sealed: true,
    });
    for (const shown of [await view(root, one.id), (await market.operator("GET", `/v1/handoffs/${one.id}`)).body]) {
      expect([shown.spent.cost, shown.cost_sealed]).toEqual([40, undefined]);
    }
    const listed = (await at(1).get("/v1/handoffs")).body.handoffs;
    const tells = listed.filter(({ spent }: { spent: { cost: number | null } }) => spent.cost === 40);
    expect([listed.length, tells]).toEqual([2, []]);
    const { tree: nodes } = (await at(1).get(`/v1/correlations/${one.id}`)).body;
    expect(JSON.stringify(nodes)).not.toContain(`"cost":40`);
    // Level 2 offers nothing of the kind, and its own handoff carries no budget.
    expect(await view(at(2), two.id)).toMatchObject({ spent: { cost: 0 } });
  });

  it("is not told either by what is left for a budget further down", async () => {
    const [one] = await tree({ cost: 100 });
    const got = await child(1, one, { capability: "work-2", budget: { cost: 1_000_000 } });
    expect(got.body.handoff).toMatchObject({ budget: { cost: null }, cost_sealed: true });
    expect((await market.operator("GET", `/v1/handoffs/${got.body.id}`)).body.budget.cost).toBe(60);
    const below = await child(2, await at(2).claim(), { capability: "work-1", budget: { cost: 1_000 } });
    expect(below.body.handoff.budget.cost).toBe(60);
    expect((await at(1).claim()).id).toBe(below.body.id);
    expect((await view(at(1), below.body.id)).budget.cost).toBeNull();
  });

  it("is enforced exactly all the same", async () => {
    const [one] = await tree({ cost: 40 });
    const got = await child(1, one, { capability: "work-2" });
    expect([got.status, got.body.reason]).toEqual([402, "budget_spent"]);
  });

  it("stays hidden where more was charged for than is remembered, from whoever offers anything, across a restart", async () => {
    const [one, , three] = await tree({ cost: 1_000 });
    const many = Array.from({ length: 64 }, (_, n) => ({ name: `other-${n}` }));
    const other = await market.agent("other", many);
    for (const { name } of many) {
      const got = await child(3, three, { capability: name });
      expect(got.status).toBe(202);
      await market.clock.advance(1);
      await other.works(1, { usage: { cost: 1 } });
    }
    await market.restart();
    expect((await view(at(1), one.id)).spent.cost).toBeNull();
    expect((await view(root, one.id)).spent.cost).toBe(104);
  });

  it("is not told of work that was given to an agent by its name alone, whatever of what it offers that was", async () => {
    const lease = await held({ cost: 1_000 });
    await at(1).offers([{ name: "work-1" }, { name: "upper" }]);
    const dear = await market.agent("dear", [{ name: "upper" }], { upper: price });
    expect((await child(3, lease[2], { to: "dear" })).status).toBe(202);
    await dear.works(1, { usage: { cost: price.amount } });
    expect(await view(at(1), lease[0].id)).toMatchObject({ spent: { cost: null }, cost_sealed: true });
    expect((await view(root, lease[0].id)).spent.cost).toBe(40);
    // Nor after it dropped everything that it offers: that it did so of late is remembered.
    await at(1).offers([]);
    expect((await view(at(1), lease[0].id)).spent.cost).toBeNull();
  });
});
