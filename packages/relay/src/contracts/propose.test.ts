import { contractId } from "@handfast/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { Market, type Trader } from "./testing/market.ts";

const live = { name: "upper", proposes: true, timeout_seconds: 30 } as const;
const need = { capability: "upper", reply_by_ms: 5_000 };
const price = { amount: 70, per: "handoff" } as const;

let market: Market;
let asker: Trader;
let one: Trader;
let two: Trader;
beforeEach(async () => {
  market = await Market.open();
  asker = await market.agent("asker");
  one = await market.signer("one", [live]);
  two = await market.agent("two", [live]);
});
afterEach(() => market.close());

/** The one call that is put to it. */
async function callTo(trader: Trader) {
  const { proposals } = (await trader.get("/v1/proposals")).body;
  expect(proposals).toHaveLength(1);
  return proposals[0];
}

describe("a call for proposals", () => {
  it("is put to those that want to be asked, each seeing only its own", async () => {
    const asked = { ...need, max_cost: { amount: 987_654_321, per: "handoff" } };
    const got = await asker.negotiate(asked);
    expect([got.status, got.body.open, got.body.waiting_for, got.body.offers]).toEqual([202, true, 2, []]);
    const call = await callTo(one);
    expect(call).toMatchObject({ from: "asker", capability: "upper", answer: null, terms: { provider: "one" } });
    const shown = JSON.stringify(call);
    expect([shown.includes("two"), shown.includes(got.body.negotiation_id), shown.includes("987654321")]).toEqual([
      false,
      false,
      false,
    ]);
    const foreign = await two.post(`/v1/proposals/${call.id}`, { cost: price });
    expect([foreign.status, foreign.body.reason]).toEqual([404, "unknown_proposal"]);
    expect((await asker.get("/v1/proposals")).body.proposals).toEqual([]);
  });

  it("is not told whether its price is above what the asker would pay", async () => {
    await asker.negotiate({ ...need, max_cost: { amount: 100, per: "handoff" } });
    for (const [trader, amount] of [
      [one, 70],
      [two, 700],
    ] as const) {
      const { id } = await callTo(trader);
      const cost = { amount, per: "handoff" };
      for (const _ of ["answered", "repeated"]) {
        const { body } = await trader.post(`/v1/proposals/${id}`, { cost });
        expect(body).toMatchObject({ answer: "proposed", terms: { cost } });
      }
    }
  });

  it("wakes whoever waits for one, and its answers wake the asker", async () => {
    const { mark } = (await one.get("/v1/proposals")).body;
    const told = one.get(`/v1/proposals?since=${mark}`, 60);
    const answer = asker.negotiate({ ...need, agents: ["one"] }, 60);
    const { proposals } = (await told).body;
    await one.post(`/v1/proposals/${proposals[0].id}`, { cost: price });
    const { status, body } = await answer;
    expect([status, body.open, body.offers]).toMatchObject([200, false, [{ made_by: "proposal", cost: price }]]);
  });

  it("counts silence until reply_by as a decline, and waits no longer", async () => {
    const answer = asker.negotiate(need, 60);
    await market.clock.rest();
    await one.post(`/v1/proposals/${(await callTo(one)).id}`, { cost: price });
    await market.clock.advance(5_000);
    const { status, body } = await answer;
    expect([status, body.offers.length, body.declined]).toMatchObject([
      200,
      1,
      [{ agent_id: "two", reason: "no_answer" }],
    ]);
    const late = await two.get("/v1/proposals");
    expect(late.body.proposals).toEqual([]);
  });

  it("is 406 where all decline, with who did and why", async () => {
    const answer = asker.negotiate(need, 60);
    await market.clock.rest();
    for (const trader of [one, two]) {
      const decline = { reason: "too_busy", message: `${trader.name} has enough to do.` };
      expect((await trader.post(`/v1/proposals/${(await callTo(trader)).id}`, { decline })).status).toBe(200);
    }
    const { status, body } = await answer;
    expect([status, body.reason]).toEqual([406, "no_offer"]);
    expect(body.declined.map(({ message }: { message: string }) => message)).toEqual([
      "one has enough to do.",
      "two has enough to do.",
    ]);
  });

  it("brings offers in the order of a search by the prices that were named, whoever answers first", async () => {
    await market.agent("listed", [{ name: "upper", timeout_seconds: 30 }], { upper: price });
    const begun = await asker.negotiate(need);
    const propose = async (trader: Trader, amount: number) =>
      trader.post(`/v1/proposals/${(await callTo(trader)).id}`, { cost: { ...price, amount } });
    const offered = async () => {
      const { body } = await asker.get(`/v1/negotiations/${begun.body.negotiation_id}`);
      return body.offers.map((offer: { agent_id: string; cost: object }) => [offer.agent_id, offer.cost]);
    };
    await propose(two, 90_000);
    expect(await offered()).toEqual([
      ["listed", price],
      ["two", { ...price, amount: 90_000 }],
    ]);
    await propose(one, 1);
    expect((await offered()).map(([agent]: [string]) => agent)).toEqual(["one", "listed", "two"]);
  });

  it("is nobody's any more where the asker is forgotten while it waits", async () => {
    const answer = asker.negotiate(need, 60);
    await market.clock.rest();
    expect((await market.operator("DELETE", "/v1/agents/asker")).status).toBe(200);
    await one.post(`/v1/proposals/${(await callTo(one)).id}`, { cost: price });
    const { status, body } = await answer;
    expect([status, body.reason]).toEqual([404, "unknown_negotiation"]);
  });

  it("is too late to be answered after reply_by", async () => {
    await asker.negotiate(need);
    const { id } = await callTo(one);
    await market.clock.advance(5_000);
    const got = await one.post(`/v1/proposals/${id}`, { cost: price });
    expect([got.status, got.body.reason]).toEqual([408, "proposal_too_late"]);
  });

  it("is answered once: the same again alike, another answer is a conflict", async () => {
    await asker.negotiate(need);
    const { id } = await callTo(one);
    const first = await one.post(`/v1/proposals/${id}`, { cost: price });
    expect([first.status, first.body.answer, first.body.terms.cost]).toEqual([200, "proposed", price]);
    await market.clock.advance(60_000);
    expect(await one.post(`/v1/proposals/${id}`, { cost: price })).toEqual(first);
    const other = await one.post(`/v1/proposals/${id}`, { cost: { ...price, amount: 1 } });
    expect([other.status, other.body.reason]).toEqual([409, "already_proposed"]);
  });

  it("may be answered with narrower limits, never with wider ones", async () => {
    await asker.negotiate({ ...need, limits: { deadline_ms: 60_000, retry: "until_ack" } });
    const { id } = await callTo(one);
    for (const body of [
      { limits: { deadline_ms: 60_001 } },
      { limits: { retry: "attempts" } },
      { valid_until: Number.MAX_SAFE_INTEGER },
    ]) {
      const got = await one.post(`/v1/proposals/${id}`, body);
      expect([got.status, got.body.reason]).toEqual([400, "beyond_call"]);
    }
    const both = await one.post(`/v1/proposals/${id}`, { cost: price, decline: { reason: "no", message: "no" } });
    expect([both.status, both.body.reason]).toEqual([400, "one_answer"]);
    const got = await one.post(`/v1/proposals/${id}`, { limits: { deadline_ms: 20_000, attempt_ms: 10_000 } });
    expect(got.body.terms.limits).toMatchObject({ deadline_ms: 20_000, queue_ms: 20_000, attempt_ms: 10_000 });
  });

  it("brings an offer that can be taken no longer than its terms are valid", async () => {
    const { body } = await asker.negotiate({ ...need, agents: ["one"] });
    const { id } = await callTo(one);
    await one.post(`/v1/proposals/${id}`, { valid_until: market.clock.now() + 1_000 });
    const { offers } = (await asker.get(`/v1/negotiations/${body.negotiation_id}`)).body;
    const [{ offer_id, expires_at, terms }] = offers;
    expect([expires_at, terms.valid_until]).toEqual([market.clock.now() + 1_000, market.clock.now() + 1_000]);
    await market.clock.advance(1_000);
    const got = await asker.post("/v1/contracts", { offer_id });
    expect([got.status, got.body.reason]).toEqual([428, "offer_expired"]);
  });

  it("is not answered with terms that are over already: the same call is still open for better ones", async () => {
    await asker.negotiate(need);
    const { id } = await callTo(one);
    for (const valid_until of [1, market.clock.now()]) {
      const got = await one.post(`/v1/proposals/${id}`, { valid_until });
      expect([got.status, got.body.reason, got.body.fields]).toEqual([400, "validity_over", ["/valid_until"]]);
    }
    const better = await one.post(`/v1/proposals/${id}`, { valid_until: market.clock.now() + 1_000 });
    expect([better.status, better.body.answer]).toEqual([200, "proposed"]);
  });

  it("brings no offer above what the asker would pay, and does not say how much that is", async () => {
    const asked = { ...need, agents: ["one"], max_cost: { amount: 69, per: "handoff" } };
    const answer = asker.negotiate(asked, 60);
    await market.clock.rest();
    const got = await one.post(`/v1/proposals/${(await callTo(one)).id}`, { cost: price });
    expect([got.status, got.body.answer]).toEqual([200, "proposed"]);
    const { status, body } = await answer;
    expect([status, body.declined]).toMatchObject([406, [{ agent_id: "one", reason: "above_max_cost" }]]);
  });

  it("is not put in the name of a rival", async () => {
    const rival = await market.agent("rival", [{ name: "upper" }]);
    const got = await rival.negotiate({ ...need, agents: ["one"] });
    expect([got.status, got.body.declined]).toMatchObject([406, [{ agent_id: "one", reason: "sealed" }]]);
    expect((await one.get("/v1/proposals")).body.proposals).toEqual([]);
  });

  it("survives a restart of the relay with its answers", async () => {
    const { body } = await asker.negotiate(need);
    await one.post(`/v1/proposals/${(await callTo(one)).id}`, { cost: price });
    await market.restart();
    await two.post(`/v1/proposals/${(await callTo(two)).id}`, { cost: { ...price, amount: 60 } });
    const got = await asker.get(`/v1/negotiations/${body.negotiation_id}`);
    expect(got.body.offers.map(({ cost }: { cost: { amount: number } }) => cost.amount)).toEqual([60, 70]);
  });
});

describe("a signed proposal", () => {
  async function proposed(change: object = {}) {
    const begun = await asker.negotiate({ ...need, agents: ["one"] });
    const { id, terms } = await callTo(one);
    const said = { offer: id, terms: { ...terms, cost: price, ...change } };
    return { begun, id, got: await one.post(`/v1/proposals/${id}`, await one.signed("proposal", said)) };
  }

  it("is the provider's side of the contract, over the very terms that name it", async () => {
    const { begun, got } = await proposed();
    expect([got.status, got.body.answer]).toEqual([200, "proposed"]);
    const { offers } = (await asker.get(`/v1/negotiations/${begun.body.negotiation_id}`)).body;
    expect(offers[0].proposal.proof).toMatchObject({ key: one.key?.key });
    const made = await asker.post("/v1/contracts", { offer_id: offers[0].offer_id });
    expect([made.status, made.body.provider_evidence.kind]).toEqual([201, "proposal"]);
    const document = JSON.parse(made.body.provider_evidence.document);
    expect(contractId(nodeCrypto, document.terms)).toBe(made.body.contract_id);
    const { document: text, proof } = made.body.provider_evidence;
    expect([{ document: text, proof }, proof.key]).toEqual([offers[0].proposal, one.key?.key]);
  });

  it.each([
    ["another asker", { asker: "mallory" }],
    ["another capability as offered", { offered: "0".repeat(64) }],
    ["less evidence", { evidence: "signed" }],
  ])("is refused with terms that nobody asked for: %s", async (_, change) => {
    const { got } = await proposed(change);
    expect([got.status, got.body.reason]).toEqual([400, "terms_differ"]);
  });

  it("may decline", async () => {
    await asker.negotiate({ ...need, agents: ["one"] });
    const { id } = await callTo(one);
    const decline = { reason: "no_time", message: "Not now." };
    const got = await one.post(`/v1/proposals/${id}`, await one.signed("proposal", { offer: id, decline }));
    expect([got.status, got.body.answer]).toEqual([200, "declined"]);
  });
});
