import { contractId, opensCost } from "@handfast/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { Market, type Trader } from "./testing/market.ts";

const price = { amount: 100, per: "handoff" } as const;
const upper = { name: "upper", version: "1.0.0", timeout_seconds: 30, reliability_sla: 0.95 } as const;
const minute = 60_000;

let market: Market;
let asker: Trader;
let provider: Trader;
beforeEach(async () => {
  market = await Market.open();
  asker = await market.agent("asker");
  provider = await market.signer("provider", [upper], { upper: price });
});
afterEach(() => market.close());

const need = { capability: "upper" };

/** So many handoffs, each done a minute after it was taken. */
async function takesAMinuteEach(handoffs: number): Promise<void> {
  for (let nth = 0; nth < handoffs; nth++) {
    await asker.submit({ ...need, input: nth });
    const { id, fence } = await provider.claim();
    await provider.act(id, "ack", { fence });
    for (const wait_ms of [25_000, 25_000, 10_000]) {
      await market.clock.advance(wait_ms);
      await provider.act(id, "heartbeat", { fence });
    }
    expect((await provider.act(id, "complete", { fence, output: 1 })).status).toBe(200);
  }
}

describe("an offer from a manifest", () => {
  it.each([
    ["measured", { ...upper }],
    ["claimed", { ...upper, latency: { p50_ms: minute } }],
  ])("is not made where routing would give it nothing in that time, by what is %s", async (how, now) => {
    if (how === "measured") {
      await provider.offers([{ ...upper, timeout_seconds: 120 }]);
      await takesAMinuteEach(12);
    }
    await provider.offers([now]);
    const hasty = await asker.negotiate({ ...need, limits: { deadline_ms: 45_000 } });
    expect([hasty.status, hasty.body.near.length]).toEqual([406, 1]);
    expect(hasty.body.near[0].lacks[0]).toMatch(/^Half of its attempts take .*, and all is to be done in 45 s/);
    const contract = (await asker.contract({ ...need, limits: { deadline_ms: 2 * minute } })).contract_id;
    await asker.submit({ contract, input: 1 });
    expect((await provider.works()).status).toBe(200);
  });

  it.each([
    ["fades within the hour, by all that routing saw", 3_600, 406],
    ["stays for a month, by no more than routing saw", 30 * 86_400, 200],
  ])("is made by what routing goes by, also where the provider's window %s", async (_, window_seconds, status) => {
    const offered = { ...upper, timeout_seconds: 120, sla: { window_seconds } };
    await provider.offers([offered]);
    await takesAMinuteEach(12);
    const hours = status === 406 ? 3 : 48;
    for (let hour = 0; hour < hours; hour++) await market.clock.advance(60 * minute);
    await provider.offers([{ ...offered, timeout_seconds: 30 }]);
    expect((await asker.negotiate({ ...need, limits: { deadline_ms: 45_000 } })).status).toBe(status);
    await asker.submit({ ...need, input: 1, limits: { deadline_ms: 45_000 } });
    const { leases } = (await provider.post("/v1/claims", { worker: "w" })).body;
    expect(leases.length).toBe(status === 406 ? 0 : 1);
  });

  it("says whose it is, on which terms, and what the contract will be called", async () => {
    const asked = {
      ...need,
      limits: { deadline_ms: minute, max_attempts: 2 },
      min_reliability: 0.9,
      valid_ms: 5 * minute,
    };
    const offer = await asker.offer(asked);
    expect(offer).toMatchObject({
      agent_id: "provider",
      made_by: "manifest",
      sealed: false,
      cost: price,
      terms: {
        asker: "asker",
        provider: "provider",
        capability: "upper",
        min_reliability: 0.9,
        limits: { deadline_ms: minute, attempt_ms: 30_000, max_attempts: 2, retry: "attempts" },
        cost: price,
        valid_until: market.clock.now() + 5 * minute,
      },
    });
    expect(offer.contract_id).toBe(contractId(nodeCrypto, offer.terms));
  });

  it("says what opens the seal of its price, as does the contract, and to nobody else", async () => {
    const { cost, cost_salt, capability, proposal, offer_id } = await asker.offer(need);
    expect([opensCost(nodeCrypto, { salt: cost_salt, cost }, capability.cost), proposal]).toEqual([true, null]);
    const made = await asker.post("/v1/contracts", { offer_id });
    expect(made.body.provider_evidence).toMatchObject({ kind: "manifest", cost_salt });
    const rival = await market.agent("rival", [{ name: "upper" }]);
    expect((await rival.offer(need)).cost_salt).toBeNull();
  });

  it("leaves no look at a price out of the log", async () => {
    await asker.offer(need);
    expect(await market.entries()).toMatchObject([{ type: "looked", by: "asker", agents: ["provider"] }]);
  });

  it("is made once for one id, and the id is another's for other content", async () => {
    const id = market.newId();
    const [one, two] = [await asker.negotiate({ ...need, id }), await asker.negotiate({ ...need, id })];
    expect(two.body).toEqual(one.body);
    const other = await asker.negotiate({ ...need, id, valid_ms: 1 });
    expect([other.status, other.body.reason]).toEqual([409, "id_taken"]);
    const stranger = await (await market.agent("stranger")).negotiate({ ...need, id });
    expect([stranger.status, stranger.body.reason]).toEqual([409, "id_taken"]);
  });

  it("is not made where an attempt may take longer than it is given", async () => {
    const got = await asker.negotiate({ ...need, limits: { attempt_ms: 1_000 } });
    expect([got.status, got.body.reason]).toEqual([406, "no_offer"]);
    expect(got.body.near).toMatchObject([{ agent_id: "provider", lacks: [expect.stringContaining("30 seconds")] }]);
  });

  it("is not made above what the asker would pay", async () => {
    const got = await asker.negotiate({ ...need, max_cost: { amount: 99, per: "handoff" } });
    expect([got.status, got.body.near.length]).toEqual([406, 1]);
    expect((await asker.negotiate({ ...need, max_cost: price })).status).toBe(200);
  });

  it("is not made by one that cannot sign, where signed evidence is demanded", async () => {
    await market.agent("unsigned", [{ name: "lower" }]);
    const got = await asker.negotiate({ capability: "lower", evidence: "signed" });
    expect([got.status, got.body.near[0]?.lacks[0]]).toEqual([406, expect.stringContaining("no key")]);
  });

  it("is seen by nobody but the asker", async () => {
    const { body } = await asker.negotiate(need);
    const path = `/v1/negotiations/${body.negotiation_id}`;
    expect((await asker.get(path)).body).toEqual(body);
    for (const got of [await provider.get(path), await market.operator("GET", path)]) {
      expect([got.status, got.body.reason]).toEqual([404, "unknown_negotiation"]);
    }
  });

  it("survives a restart of the relay", async () => {
    const { body } = await asker.negotiate(need);
    await market.restart();
    expect((await asker.get(`/v1/negotiations/${body.negotiation_id}`)).body).toEqual(body);
    expect((await asker.post("/v1/contracts", { offer_id: body.offers[0].offer_id })).status).toBe(201);
  });
});

describe("a rival's look", () => {
  it("shows no price and no terms, and cannot be agreed to", async () => {
    const rival = await market.agent("rival", [{ name: "upper" }]);
    const offer = await rival.offer(need);
    expect(offer).toMatchObject({ agent_id: "provider", sealed: true, cost: null, terms: null, contract_id: null });
    expect(JSON.stringify(offer)).not.toContain(`"amount"`);
    const got = await rival.post("/v1/contracts", { offer_id: offer.offer_id });
    expect([got.status, got.body.reason]).toEqual([403, "price_sealed"]);
    expect(await market.entries()).toEqual([]);
  });

  it("does not find a price out by asking for less and less", async () => {
    const rival = await market.agent("rival", [{ name: "upper" }]);
    const asked = [1, 99, 100, 101, 1_000_000].map((amount) =>
      rival.negotiate({ ...need, max_cost: { amount, per: "handoff" } }),
    );
    const answers = await Promise.all(asked);
    const told = answers.map(({ status, body }) => [status, body.near.map(({ lacks }: { lacks: string[] }) => lacks)]);
    expect(new Set(told.map((each) => JSON.stringify(each))).size).toBe(1);
  });

  it("may agree where nothing has a price", async () => {
    await market.agent("free", [{ name: "lower" }]);
    const rival = await market.agent("rival", [{ name: "lower" }]);
    const { offer_id } = await rival.offer({ capability: "lower" });
    expect((await rival.post("/v1/contracts", { offer_id })).status).toBe(201);
  });
});

describe("a contract", () => {
  it("is named by its terms, and both sides see it with each other's word", async () => {
    const offer = await asker.offer(need);
    const made = await asker.post("/v1/contracts", { offer_id: offer.offer_id });
    expect([made.status, made.body.contract_id, made.body.terms]).toEqual([201, offer.contract_id, offer.terms]);
    expect(made.body).toMatchObject({ state: "in_force", asker_evidence: { kind: "attested", proof: null } });
    const { provider_evidence } = made.body;
    expect(JSON.parse(provider_evidence.document)).toMatchObject({ typ: "registration", agent_id: "provider" });
    expect(provider_evidence.proof).toMatchObject({ key: provider.key?.key });
    const path = `/v1/contracts/${offer.contract_id}`;
    expect((await provider.get(path)).body).toEqual(made.body);
    expect((await market.operator("GET", path)).body).toEqual(made.body);
    expect((await asker.get("/v1/contracts")).body.contracts).toMatchObject([{ contract_id: offer.contract_id }]);
    expect((await provider.get("/v1/contracts?as=asker")).body.contracts).toEqual([]);
    expect((await provider.get("/v1/contracts?as=provider&state=in_force")).body.contracts).toHaveLength(1);
  });

  it("is not there for others", async () => {
    const { contract_id } = await asker.contract(need);
    const stranger = await market.agent("stranger");
    const path = `/v1/contracts/${contract_id}`;
    for (const got of [await stranger.get(path), await stranger.post(`${path}/end`)]) {
      expect([got.status, got.body.reason]).toEqual([404, "unknown_contract"]);
    }
    expect((await stranger.get("/v1/contracts")).body.contracts).toEqual([]);
  });

  it("is made once of an offer, however often that is taken, also after it expired", async () => {
    const { offer_id } = await asker.offer(need);
    const [one, two] = await Promise.all([1, 2].map(() => asker.post("/v1/contracts", { offer_id })));
    expect([one?.status, two?.status].sort()).toEqual([200, 201]);
    await market.clock.advance(60 * minute);
    const again = await asker.post("/v1/contracts", { offer_id });
    expect([again.status, again.body.contract_id]).toEqual([200, one?.body.contract_id]);
    expect((await asker.get("/v1/contracts")).body.contracts).toHaveLength(1);
  });

  it("is not made of an offer that was made to somebody else, or to nobody", async () => {
    const { offer_id } = await asker.offer(need);
    const stranger = await market.agent("stranger");
    for (const got of [
      await stranger.post("/v1/contracts", { offer_id }),
      await provider.post("/v1/contracts", { offer_id }),
      await asker.post("/v1/contracts", { offer_id: market.newId() }),
    ]) {
      expect([got.status, got.body.reason]).toEqual([404, "unknown_offer"]);
    }
    await asker.post("/v1/contracts", { offer_id });
    expect((await stranger.post("/v1/contracts", { offer_id })).status).toBe(404);
  });

  it("is not made of an offer that expired", async () => {
    const { offer_id, expires_at } = await asker.offer(need);
    await market.clock.advance(expires_at - market.clock.now());
    const got = await asker.post("/v1/contracts", { offer_id });
    expect([got.status, got.body.reason, got.body.title]).toEqual([428, "offer_expired", "The offer has expired."]);
  });

  it("is not made of what has changed since, with what changed", async () => {
    const { offer_id } = await asker.offer(need);
    await provider.offers([{ ...upper, version: "2.0.0" }], { upper: price });
    const got = await asker.post("/v1/contracts", { offer_id });
    expect([got.status, got.body.reason]).toEqual([428, "offer_stale"]);
    expect(got.body.changed).toEqual([{ field: "version", from: "1.0.0", to: "2.0.0" }]);
  });

  it("is made all the same where only the list price or another capability has changed", async () => {
    const { offer_id } = await asker.offer(need);
    await provider.offers([upper, { name: "lower" }], { upper: { amount: 900, per: "handoff" } });
    const got = await asker.post("/v1/contracts", { offer_id });
    expect([got.status, got.body.terms.cost]).toEqual([201, price]);
  });

  it("is not made with a provider that is gone, or that came back as another", async () => {
    const { offer_id } = await asker.offer(need);
    expect((await market.operator("DELETE", "/v1/agents/provider")).status).toBe(200);
    const gone = await asker.post("/v1/contracts", { offer_id });
    expect([gone.status, gone.body.reason]).toEqual([428, "provider_gone"]);
    expect(gone.body.title).toBe("Whoever made the offer is gone.");
    await market.clock.advance(1);
    await market.signer("provider", [upper], { upper: price });
    const other = await asker.post("/v1/contracts", { offer_id });
    expect([other.status, other.body.reason]).toEqual([428, "provider_gone"]);
  });

  it("is signed by the asker over the very terms", async () => {
    const signer = await market.signer("signer");
    const { terms, contract_id } = await signer.offer(need);
    const sign = (said: object) => signer.signed("contract", { contract: contract_id, terms, ...said });
    const dearer = await sign({ terms: { ...terms, cost: { amount: 1, per: "handoff" } } });
    const wrong = await signer.post("/v1/contracts", dearer);
    expect([wrong.status, wrong.body.reason, wrong.body.fields]).toEqual([
      400,
      "terms_differ",
      ["/signed/document/terms/cost"],
    ]);
    const misnamed = await signer.post("/v1/contracts", await sign({ contract: "0".repeat(64) }));
    expect([misnamed.status, misnamed.body.reason]).toEqual([400, "terms_differ"]);
    const body = await sign({});
    const made = await signer.post("/v1/contracts", body);
    expect([made.status, made.body.contract_id]).toEqual([201, contract_id]);
    expect(made.body.asker_evidence).toEqual({ kind: "signed", ...body.signed });
  });

  it("is ended by either side, once, and stays to be read", async () => {
    for (const side of [asker, provider]) {
      const { contract_id } = await asker.contract(need);
      const path = `/v1/contracts/${contract_id}`;
      const ended = await side.post(`${path}/end`, { reason: "enough" });
      expect([ended.status, ended.body.state, ended.body.ended]).toMatchObject([200, "ended", { by: side.name }]);
      await market.clock.advance(1);
      expect((await asker.post(`${path}/end`)).body).toEqual(ended.body);
      expect((await provider.get(path)).body.state).toBe("ended");
    }
    const types = (await market.entries()).map(({ type }) => type);
    expect(types.filter((type) => type === "agreed" || type === "contract_ended")).toEqual([
      "agreed",
      "contract_ended",
      "agreed",
      "contract_ended",
    ]);
  });
});

describe("a price that its provider changed between offer and contract", () => {
  it("is stale once the manifest that proves it is not kept any more", async () => {
    await market.close();
    market = await Market.open({ manifests_remembered_per_agent: 1 });
    asker = await market.agent("asker");
    provider = await market.signer("provider", [upper], { upper: price });
    const { offer_id } = await asker.offer(need);
    await market.clock.advance(1);
    await provider.offers([upper], { upper: { amount: 999, per: "handoff" } });
    const got = await asker.post("/v1/contracts", { offer_id });
    expect(got.body).toMatchObject({ code: 428, reason: "offer_stale", changed: [{ field: "cost" }] });
  });

  it.each([
    ["raised", { amount: 999, per: "handoff" } as const],
    ["lowered", { amount: 1, per: "handoff" } as const],
  ])("and %s is the one that was offered, and proven by the manifest of the offer", async (_, other) => {
    const { offer_id } = await asker.offer(need);
    await market.clock.advance(1);
    await provider.offers([upper], { upper: other });
    const agreed = (await asker.post("/v1/contracts", { offer_id })).body;
    expect(agreed).toMatchObject({ state: "in_force", terms: { cost: price } });
    await market.restart();
    const { provider_evidence, terms } = (await asker.get(`/v1/contracts/${agreed.contract_id}`)).body;
    const [{ cost: seal }] = JSON.parse(provider_evidence.document).capabilities;
    expect(opensCost(nodeCrypto, { salt: provider_evidence.cost_salt, cost: terms.cost }, seal)).toBe(true);
  });
});
