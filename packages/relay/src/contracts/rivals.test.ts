/** Who is kept from a sealed price: whoever offers the same, did of late, or takes it up while it negotiates. */

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { limits } from "../limits.ts";
import { Market, type Trader } from "./testing/market.ts";

const price = { amount: 100, per: "handoff" } as const;
const upper = { name: "upper", timeout_seconds: 30 } as const;
const need = { capability: "upper" };
/** Shorter than it is, so that a virtual month need not pass. */
const memory_ms = 60 * 60_000;

let market: Market;
let rival: Trader;
beforeEach(async () => {
  market = await Market.open({ offered_before_per_agent: 3, offered_before_ms: memory_ms });
  await market.agent("provider", [upper], { upper: price });
  rival = await market.agent("rival", [upper]);
});
afterEach(() => market.close());

/** What it is told of the provider's price. */
async function told(by: Trader) {
  const discovered = await by.post("/v1/discover", { capability: "upper" });
  const hit = discovered.body.hits.find(({ agent_id }: { agent_id: string }) => agent_id === "provider");
  const { body } = await by.negotiate({ ...need, agents: ["provider"] });
  return [hit.cost ?? null, body.offers[0].cost];
}

const nothing = [null, null];

describe("an agent that offered the capability of late", () => {
  it("is a rival all the same, in discovery, in a negotiation and when it agrees", async () => {
    expect(await told(rival)).toEqual(nothing);
    await rival.offers([]);
    expect(await told(rival)).toEqual(nothing);
    const { offer_id, sealed } = await rival.offer(need);
    expect(sealed).toBe(true);
    const got = await rival.post("/v1/contracts", { offer_id });
    expect([got.status, got.body.reason]).toEqual([403, "price_sealed"]);
    const cheap = await rival.negotiate({ ...need, max_cost: { amount: 1, per: "handoff" } });
    const dear = await rival.negotiate({ ...need, max_cost: { amount: 1_000, per: "handoff" } });
    expect(cheap.body.near).toEqual(dear.body.near);
    expect(await market.entries()).toEqual([]);
  });

  it("is one after a restart of the relay too", async () => {
    await rival.offers([]);
    await market.restart();
    expect(await told(rival)).toEqual(nothing);
  });

  it("is none any more 30 days after it last offered it, and not a moment before", async () => {
    expect(limits.offered_before_ms).toBe(30 * 24 * 60 * 60_000);
    await market.clock.advance(2 * memory_ms);
    await rival.offers([]);
    await market.clock.advance(memory_ms - 1);
    expect(await told(rival)).toEqual(nothing);
    await market.clock.advance(1);
    expect(await told(rival)).toEqual([price, price]);
  });

  it("is one also when it had itself forgotten and came back by its name", async () => {
    expect((await market.operator("DELETE", "/v1/agents/rival")).status).toBe(200);
    expect(await told(await market.agent("rival"))).toEqual(nothing);
  });

  it("does not bury the name under many others", async () => {
    const others = ["a", "b", "c", "d"].map((name) => ({ name }));
    await rival.offers([]);
    await rival.offers(others);
    await rival.offers([]);
    expect(await told(rival)).toEqual(nothing);
    await rival.offers(others);
    expect(await told(rival)).toEqual(nothing);
  });

  it("keeps no agent from prices that never offered it", async () => {
    const stranger = await market.agent("stranger", [{ name: "lower" }]);
    await stranger.offers([]);
    expect(await told(stranger)).toEqual([price, price]);
  });
});

describe("an agent that takes the capability up while it negotiates", () => {
  it("cannot agree to what it was offered as a stranger, nor is it shown again", async () => {
    const asker = await market.agent("asker");
    const { body } = await asker.negotiate({ ...need, agents: ["provider"] });
    await asker.offers([upper]);
    const got = await asker.post("/v1/contracts", { offer_id: body.offers[0].offer_id });
    expect([got.status, got.body.reason]).toEqual([403, "price_sealed"]);
    const again = await asker.get(`/v1/negotiations/${body.negotiation_id}`);
    expect(again.body.offers).toMatchObject([{ sealed: true, cost: null, terms: null, cost_salt: null }]);
  });

  it("does not learn from the order of offers which of them is the cheaper", async () => {
    await market.agent("a-dear-one", [upper], { upper: { ...price, amount: 9_000 } });
    const asker = await market.agent("asker");
    const agents = ["a-dear-one", "provider"];
    const { body } = await asker.negotiate({ ...need, agents });
    const inOrder = (offers: readonly { agent_id: string }[]) => offers.map(({ agent_id }) => agent_id);
    expect(inOrder(body.offers)).toEqual(["provider", "a-dear-one"]);
    await asker.offers([upper]);
    const again = await asker.get(`/v1/negotiations/${body.negotiation_id}`);
    expect(inOrder(again.body.offers)).toEqual(agents);
  });

  it("is not shown what is proposed to it afterwards, nor how that compares", async () => {
    const live = await market.agent("live", [{ name: "upper", proposes: true }]);
    const answers: unknown[] = [];
    for (const amount of [1, 1_000]) {
      const asker = await market.agent(`asker-${amount}`);
      const { body } = await asker.negotiate({ ...need, agents: ["live"], max_cost: { amount, per: "handoff" } });
      await asker.offers([upper]);
      const [call] = (await live.get("/v1/proposals")).body.proposals;
      expect((await live.post(`/v1/proposals/${call.id}`, { cost: price })).status).toBe(200);
      const { offers, declined, near } = (await asker.get(`/v1/negotiations/${body.negotiation_id}`)).body;
      answers.push({ offers, declined, near });
      expect([offers, declined]).toMatchObject([[], [{ agent_id: "live", reason: "sealed" }]]);
      expect((await asker.post("/v1/contracts", { offer_id: call.id })).status).toBeGreaterThanOrEqual(403);
    }
    expect(answers[0]).toEqual(answers[1]);
  });

  it("is not told any more how a price in a manifest compares with what it would pay", async () => {
    await market.agent("cheap", [upper], { upper: { amount: 10, per: "handoff" } });
    const answers: unknown[] = [];
    for (const amount of [50, 1_000]) {
      const asker = await market.agent(`asker-${amount}`);
      const most = { amount, per: "handoff" };
      const first = await asker.negotiate({ ...need, agents: ["provider", "cheap"], max_cost: most });
      expect(first.body.near).toHaveLength(amount === 50 ? 1 : 0);
      await asker.offers([upper]);
      const { offers, declined, near } = (await asker.get(`/v1/negotiations/${first.body.negotiation_id}`)).body;
      answers.push({ offers, declined, near });
    }
    expect(answers[1]).toEqual(answers[0]);
    const lacks = ["Its price is sealed, and not shown to the asker."];
    expect(answers[0]).toMatchObject({
      offers: [],
      near: [
        { agent_id: "cheap", lacks },
        { agent_id: "provider", lacks },
      ],
    });
  });
});
