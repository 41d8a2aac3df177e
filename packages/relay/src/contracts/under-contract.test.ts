import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Market, type Trader } from "./testing/market.ts";

const price = { amount: 100, per: "handoff" } as const;
const minute = 60_000;
const upper = {
  name: "upper",
  version: "1.0.0",
  timeout_seconds: 30,
  reliability_sla: 0.95,
  input_schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
} as const;

let market: Market;
let asker: Trader;
let provider: Trader;
beforeEach(async () => {
  market = await Market.open();
  asker = await market.agent("asker");
  provider = await market.agent("provider", [upper], { upper: price });
});
afterEach(() => market.close());

const terms = { capability: "upper", limits: { deadline_ms: minute, max_attempts: 2 } };
const input = { text: "hello" };

async function agreed(more: object = {}): Promise<string> {
  return (await asker.contract({ ...terms, ...more })).contract_id;
}

const told = async (contract: string) => (await asker.get(`/v1/contracts/${contract}`)).body;

describe("a handoff that names a contract", () => {
  it("goes to its provider with its clocks, whatever it says itself", async () => {
    const contract = await agreed();
    await market.agent("another", [upper]);
    const got = await asker.submit({ contract, input });
    expect([got.status, got.body.handoff]).toMatchObject([
      202,
      {
        to: "provider",
        capability: "upper",
        limits: { deadline_ms: minute, attempt_ms: 30_000, max_attempts: 2, retry: "attempts" },
      },
    ]);
    expect(got.body.handoff.contract).toBe(contract);
    const lease = await provider.claim();
    expect(lease.contract).toBe(contract);
    expect((await provider.act(lease.id, "complete", { fence: lease.fence, output: 1 })).status).toBe(200);
    expect(await told(contract)).toMatchObject({ state: "in_force", fulfilment: { fulfilled: 1, breaches: 0 } });
  });

  it("reaches a worker that asks for this capability only, and no worker that asks for another", async () => {
    await provider.offers([upper, { name: "lower" }], { upper: price });
    const contract = await agreed();
    const claiming = (capability: string, wait?: number) =>
      provider.post("/v1/claims", { worker: capability, capabilities: [capability] }, wait);
    await asker.submit({ contract, input });
    expect((await claiming("lower")).body.leases).toEqual([]);
    expect((await claiming("upper")).body.leases).toMatchObject([{ contract, to: "provider" }]);
    const [other, waiting] = [claiming("lower", 10), claiming("upper", 10)];
    await market.clock.rest();
    await asker.submit({ contract, input });
    await market.clock.advance(10_000);
    expect((await waiting).body.leases).toMatchObject([{ contract }]);
    expect((await other).body.leases).toEqual([]);
  });

  it("may ask for less", async () => {
    const contract = await agreed();
    const limits = { deadline_ms: 10_000, max_attempts: 1, retry: "until_ack" };
    const got = await asker.submit({ contract, to: "provider", capability: "upper", input, limits });
    expect([got.status, got.body.handoff.limits]).toMatchObject([202, { ...limits, queue_ms: 10_000 }]);
  });

  it.each([
    ["deadline", { limits: { deadline_ms: minute + 1 } }, ["/limits/deadline_ms"]],
    ["attempts", { limits: { max_attempts: 3 } }, ["/limits/max_attempts"]],
    ["attempt time", { limits: { attempt_ms: 30_001 } }, ["/limits/attempt_ms"]],
    ["evidence", { evidence: "signed" }, ["/evidence"]],
    ["target", { to: "another" }, ["/to"]],
    ["capability", { capability: "lower" }, ["/capability"]],
    ["version", { version: ">=2" }, ["/version"]],
    ["expectation", { expects: { output_schema: { const: "never" } } }, ["/expects/output_schema"]],
  ])("is refused where it asks for more or other: %s", async (_, more, fields) => {
    const contract = await agreed();
    const got = await asker.submit({ contract, input, ...more });
    expect([got.status, got.body.reason, got.body.fields]).toEqual([400, "beyond_contract", fields]);
  });

  it("that nobody knows, or that is another's, is answered alike", async () => {
    const contract = await agreed();
    const stranger = await market.agent("stranger");
    const answers = [
      await stranger.submit({ contract, capability: "upper", input }),
      await provider.submit({ contract, capability: "upper", input }),
      await stranger.submit({ contract: "f".repeat(64), capability: "upper", input }),
    ];
    const texts = answers.map(({ status, body }) => [status, body.reason, body.detail.replace(/"[0-9a-f]+"/, "it")]);
    expect(texts[0]?.slice(0, 2)).toEqual([428, "unknown_contract"]);
    expect(texts).toEqual([texts[0], texts[0], texts[0]]);
  });

  it("is another's once the asker's name has gone to another agent", async () => {
    const contract = await agreed();
    await market.operator("DELETE", "/v1/agents/asker");
    await market.clock.advance(1);
    const heir = await market.agent("asker");
    const got = await heir.submit({ contract, input });
    expect([got.status, got.body.reason]).toEqual([428, "unknown_contract"]);
    expect((await heir.get(`/v1/contracts/${contract}`)).status).toBe(404);
  });

  it("is refused after its validity", async () => {
    const contract = await agreed({ valid_ms: 2 * minute });
    await market.clock.advance(2 * minute);
    const got = await asker.submit({ contract, input });
    expect([got.status, got.body.reason]).toEqual([428, "contract_expired"]);
    expect((await told(contract)).state).toBe("expired");
    expect((await asker.post(`/v1/contracts/${contract}/end`, {})).body).toMatchObject({
      state: "expired",
      ended: null,
    });
  });

  it("is refused once either side has ended it, and what is open goes on", async () => {
    const contract = await agreed();
    await asker.submit({ contract, input });
    await provider.post(`/v1/contracts/${contract}/end`, { reason: "enough" });
    const got = await asker.submit({ contract, input });
    expect([got.status, got.body.reason, got.body.ended.by]).toEqual([428, "contract_ended", "provider"]);
    expect((await provider.works()).body.code).toBe(200);
    expect(await told(contract)).toMatchObject({ state: "ended", fulfilment: { fulfilled: 1 } });
  });

  it("is refused once the capability has changed, with what changed", async () => {
    const contract = await agreed();
    await provider.offers([{ ...upper, version: "2.0.0", description: "louder" }], { upper: price });
    const got = await asker.submit({ contract, input });
    expect([got.status, got.body.reason]).toEqual([428, "contract_stale"]);
    expect(got.body.detail).toContain('has changed upper (description none -> "louder", version "1.0.0" -> "2.0.0")');
    expect(got.body.changed).toEqual([
      { field: "description", to: "louder" },
      { field: "version", from: "1.0.0", to: "2.0.0" },
    ]);
    expect(await told(contract)).toMatchObject({ state: "stale", changed: got.body.changed });
    await provider.offers([upper], { upper: { amount: 5, per: "handoff" } });
    expect((await asker.submit({ contract, input })).status).toBe(202);
  });

  it("is refused once the capability is not offered any more", async () => {
    const contract = await agreed();
    await provider.offers([{ name: "lower" }]);
    const got = await asker.submit({ contract, input });
    expect([got.status, got.body.reason, got.body.changed]).toEqual([
      428,
      "contract_stale",
      [{ field: "name", from: "upper" }],
    ]);
    expect(got.body.detail).toContain("is stale: provider does not offer upper any more");
  });

  it("is refused once the provider is gone altogether, before anything is handed to nobody", async () => {
    const contract = await agreed();
    await market.operator("DELETE", "/v1/agents/provider");
    const got = await asker.submit({ contract, input });
    expect([got.status, got.body.reason]).toEqual([428, "contract_stale"]);
    expect(got.body.detail).toContain("provider does not offer upper any more");
  });

  it("is answered as the first time when it is sent again, whatever became of the contract", async () => {
    const contract = await agreed();
    const body = { contract, input, idempotency_key: "k" };
    const first = await asker.submit(body);
    await asker.post(`/v1/contracts/${contract}/end`);
    const again = await asker.submit({ ...body, to: "provider" });
    expect([again.status, again.body.id, again.body.repeated]).toEqual([202, first.body.id, true]);
    expect((await asker.submit({ ...body, input: { text: "other" } })).status).toBe(409);
  });

  it("must itself say what the contract decides, where it is signed", async () => {
    const signer = await market.signer("signer");
    const { contract_id: contract } = await signer.contract(terms);
    const bare = await signer.post(
      "/v1/handoffs",
      await signer.signedHandoff(input, { capability: "upper", contract }),
    );
    expect([bare.status, bare.body.reason, bare.body.fields]).toEqual([
      400,
      "contract_unsaid",
      ["/signed/document/to"],
    ]);
    const said = { to: "provider", capability: "upper", contract };
    const got = await signer.post("/v1/handoffs", await signer.signedHandoff(input, said));
    expect([got.status, got.body.handoff.to]).toEqual([202, "provider"]);
  });

  it("applies the evidence that was agreed on", async () => {
    const able = await market.signer("able", [{ name: "lower" }]);
    const { contract_id: contract } = await asker.contract({ capability: "lower", evidence: "signed" });
    const { body } = await asker.submit({ contract, input: 1 });
    expect(body.handoff.demands).toBe("signed");
    const { id, fence } = await able.claim();
    const plain = await able.act(id, "ack", { fence });
    expect([plain.status, plain.body.reason]).toEqual([401, "signature_demanded"]);
  });

  it("is one of many: a batch with one that is refused is refused as a whole", async () => {
    const contract = await agreed();
    const handoffs = [
      { contract, input },
      { contract, input, limits: { deadline_ms: 2 * minute } },
    ];
    const got = await asker.post("/v1/handoffs/batch", { handoffs });
    expect([got.status, got.body.reason]).toEqual([400, "beyond_contract"]);
    expect((await asker.get("/v1/handoffs")).body.handoffs).toEqual([]);
  });
});

describe("the formats of a contract", () => {
  const short = { ...upper.input_schema, properties: { text: { type: "string", maxLength: 5 } } };
  const loud = { type: "string", pattern: "^[A-Z]+$" };

  it("bind the asker to what it said that it sends, and to what the provider takes", async () => {
    const contract = await agreed({ input_schema: short });
    const long = await asker.submit({ contract, input: { text: "much too long" } });
    expect([long.status, long.body.reason]).toEqual([422, "input_unfit"]);
    const missing = await asker.submit({ contract, input: {} });
    expect([missing.status, missing.body.reason]).toEqual([422, "input_unfit"]);
    expect((await asker.submit({ contract, input })).status).toBe(202);
    expect((await told(contract)).fulfilment).toMatchObject({ fulfilled: 0, breaches: 0, uncounted: 0 });
  });

  it("bind nobody by its manifest to an output that it does not promise there", async () => {
    const impossible = { not: {} };
    for (const offered of [upper, { ...upper, output_schema: { type: "string" } }]) {
      await provider.offers([offered], { upper: price });
      for (const output_schema of [loud, impossible]) {
        const got = await asker.negotiate({ ...terms, output_schema });
        expect([got.status, got.body.reason, got.body.near.length]).toEqual([406, "no_offer", 1]);
      }
    }
    await provider.offers([{ ...upper, output_schema: loud }], { upper: price });
    const { schemas } = await asker.offer({ ...terms, output_schema: { type: "string" } });
    expect(schemas.output.verdict).toBe("proven");
    // Of one that says nothing only that is promised which anything meets.
    await provider.offers([upper], { upper: price });
    expect((await asker.negotiate({ ...terms, output_schema: {} })).status).toBe(200);
  });

  it("bind the provider to what the asker takes, where it proposes so itself", async () => {
    await provider.offers([{ ...upper, proposes: true }]);
    const { body } = await asker.negotiate({ ...terms, output_schema: loud });
    const [call] = (await provider.get("/v1/proposals")).body.proposals;
    expect(call.output_schema).toEqual(loud);
    expect((await provider.post(`/v1/proposals/${call.id}`, { cost: price })).status).toBe(200);
    const [offer] = (await asker.get(`/v1/negotiations/${body.negotiation_id}`)).body.offers;
    const contract = (await asker.post("/v1/contracts", { offer_id: offer.offer_id })).body.contract_id;
    await asker.submit({ contract, input });
    const { id, fence } = await provider.claim();
    const quiet = await provider.act(id, "complete", { fence, output: "hello" });
    expect([quiet.status, quiet.body.code, quiet.body.reason]).toEqual([422, 502, "output_unfit"]);
    expect((await provider.act(id, "complete", { fence, output: "HELLO" })).status).toBe(200);
    expect((await told(contract)).fulfilment).toMatchObject({ fulfilled: 1, breaches: 0 });
  });

  it("bind the provider to what it promised when it was agreed on, though it changed meanwhile", async () => {
    await provider.offers([{ ...upper, output_schema: loud }], { upper: price });
    const contract = await agreed();
    await asker.submit({ contract, input });
    await provider.offers([upper], { upper: price });
    const { id, fence } = await provider.claim();
    expect((await provider.act(id, "complete", { fence, output: "hello" })).body.code).toBe(502);
  });
});

describe("how a contract is kept", () => {
  it("takes what a handoff expects where it follows from what was agreed on, of the asker's or the provider's", async () => {
    const word = { type: "string", minLength: 1 };
    await provider.offers([{ ...upper, output_schema: word }], { upper: price });
    const by_asker = await agreed({ output_schema: word });
    const contract = await agreed();
    for (const output_schema of [word, { type: ["string", "integer"] }, {}]) {
      expect((await asker.submit({ contract, input, expects: { output_schema } })).status).toBe(202);
    }
    expect((await asker.submit({ contract: by_asker, input, expects: { output_schema: word } })).status).toBe(202);
    const longer = { type: "string", minLength: 2 };
    expect((await asker.submit({ contract, input, expects: { output_schema: longer } })).status).toBe(400);
    expect((await asker.submit({ contract, input, version: "^1" })).status).toBe(202);
  });

  it("counts nothing against one that missed a short time which its manifest says nothing of", async () => {
    const silent = await market.agent("silent", [{ name: "lower" }]);
    const late = async (deadline_ms: number) => {
      const { contract_id } = await asker.contract({ capability: "lower", limits: { deadline_ms } });
      expect((await told(contract_id)).terms.limits).toMatchObject({ deadline_ms, queue_ms: deadline_ms });
      expect((await asker.submit({ contract: contract_id, input })).status).toBe(202);
      await market.clock.advance(deadline_ms + 1);
      return (await told(contract_id)).fulfilment;
    };
    expect(await late(1_000)).toMatchObject({ breaches: 0, by_reason: { less_time: 1 } });
    expect(await late(10 * minute)).toMatchObject({ breaches: 1, by_reason: { late: 1 } });
    // What it said itself, it is held to.
    await silent.offers([{ name: "lower", timeout_seconds: 1 }]);
    expect(await late(1_000)).toMatchObject({ breaches: 1, by_reason: { late: 1 } });
  });

  it("counts no failure where fewer attempts were asked for, and one where good input is called unfit", async () => {
    const contract = await agreed();
    const fail = async (limits: object, reason: string) => {
      await asker.submit({ contract, input, limits });
      const { id, fence } = await provider.claim();
      await provider.act(id, "fail", { fence, error: { reason, message: "No." }, retryable: false });
    };
    await fail({ max_attempts: 1 }, "broken");
    await fail({ retry: "until_ack" }, "broken");
    await fail({}, "input_unfit");
    expect((await told(contract)).fulfilment).toMatchObject({
      breaches: 1,
      uncounted: 2,
      by_reason: { fewer_attempts: 2, failed: 1 },
    });
  });

  it("is by no shorter clocks than the defaults, unless the provider itself agrees to them", async () => {
    const limits = { deadline_ms: minute, queue_ms: 1, ack_ms: 1, lease_ms: 2_000 };
    const { terms: made } = await asker.contract({ ...terms, limits });
    expect(made.limits).toMatchObject({ queue_ms: minute, ack_ms: 10_000, lease_ms: 30_000 });
    const live = await market.agent("live", [{ ...upper, name: "live", proposes: true }]);
    const asked = await asker.negotiate({ capability: "live", limits, reply_by_ms: 5_000 });
    expect(asked.status).toBe(202);
    const [call] = (await live.get("/v1/proposals")).body.proposals;
    expect(call.terms.limits).toMatchObject({ queue_ms: 1, ack_ms: 1, lease_ms: 2_000 });
  });

  it("counts what became of each handoff, and tells both sides", async () => {
    const contract = await agreed();
    const one = async (end: (lease: { id: string; fence: number }) => Promise<unknown>) => {
      await asker.submit({ contract, input });
      await end(await provider.claim());
    };
    const error = { reason: "broken", message: "It broke." };
    await one(({ id, fence }) => provider.act(id, "complete", { fence, output: 1 }));
    await one(({ id, fence }) => provider.act(id, "fail", { fence, error }));
    await one(({ id, fence }) => provider.act(id, "reject", { fence, error }));
    await one(({ id }) => asker.act(id, "cancel", {}));
    await one(({ id, fence }) => provider.act(id, "complete", { fence, output: 1, usage: { cost: 101 } }));
    const { fulfilment } = (await provider.get(`/v1/contracts/${contract}`)).body;
    expect(fulfilment).toMatchObject({
      fulfilled: 1,
      breaches: 3,
      uncounted: 1,
      by_reason: { failed: 1, rejected: 1, canceled: 1, cost_above_price: 1 },
    });
    expect([fulfilment.lower > 0, fulfilment.upper < 1]).toEqual([true, true]);
  });

  it("counts a provider that died after it agreed: the handoff ends, and the contract is broken", async () => {
    const contract = await agreed();
    const { body } = await asker.submit({ contract, input });
    expect(body.code).toBe(202);
    await market.clock.advance(minute);
    const ended = (await asker.get(`/v1/handoffs/${body.id}`)).body;
    expect([ended.state, ended.code]).toEqual(["expired", 408]);
    expect((await told(contract)).fulfilment).toMatchObject({ breaches: 1, by_reason: { late: 1 } });
  });

  it("counts nothing against a provider that was given less time than agreed on", async () => {
    const contract = await agreed();
    await asker.submit({ contract, input, limits: { deadline_ms: 1 } });
    await market.clock.advance(minute);
    expect((await told(contract)).fulfilment).toMatchObject({ breaches: 0, uncounted: 1, by_reason: { less_time: 1 } });
  });

  it("is kept exactly across restarts, in order or not", async () => {
    const contract = await agreed();
    for (let time = 0; time < 3; time++) {
      await asker.submit({ contract, input });
      await provider.works();
      await market.restart();
      await asker.submit({ contract, input });
      await provider.act((await provider.claim()).id, "fail", {
        fence: 1,
        error: { reason: "broken", message: "It broke." },
      });
    }
    const before = (await told(contract)).fulfilment;
    expect(before).toMatchObject({ fulfilled: 3, breaches: 3 });
    await market.restart();
    expect((await told(contract)).fulfilment).toEqual(before);
  });

  it("makes a contract breached once less than was agreed on is certain, and lets nothing more under it", async () => {
    const contract = await agreed({ min_reliability: 0.9 });
    const fails = async () => {
      const got = await asker.submit({ contract, input });
      if (got.status !== 202) return got;
      const { id, fence } = await provider.claim();
      await provider.act(id, "fail", { fence, error: { reason: "broken", message: "It broke." } });
      return got;
    };
    // Of none in one the interval is below 0.9 already; but one failure ends no contract, as it breaches no claim.
    for (let times = 0; times < 5; times += 1) expect([times, (await fails()).status]).toEqual([times, 202]);
    const got = await fails();
    expect(got.body).toMatchObject({ code: 428, reason: "contract_breached", fulfilled: 0, breaches: 5 });
    expect(got.body.upper).toBeLessThan(0.9);
    expect(await told(contract)).toMatchObject({ state: "breached" });
    await market.restart();
    expect((await asker.submit({ contract, input })).body.reason).toBe("contract_breached");
  });
});

describe("a version that is asked for beside a contract", () => {
  it("is of the contract's capability, also where the contract is refused for what it is", async () => {
    const contract = await agreed();
    expect((await asker.submit({ contract, version: "^1", input })).status).toBe(202);
    const stranger = await market.agent("stranger");
    const refused = await stranger.submit({ contract, version: "^1", input });
    expect([refused.status, refused.body.reason]).toEqual([428, "unknown_contract"]);
  });
});

describe("a redrive of what was given under a contract", () => {
  async function dead(contract: string): Promise<string> {
    await asker.submit({ contract, input });
    const { id, fence } = await provider.claim();
    await provider.act(id, "fail", { fence, error: { reason: "broken", message: "It broke." } });
    return id;
  }

  it("goes under it again while it is in force, and is refused after", async () => {
    const contract = await agreed();
    const [one, two] = [await dead(contract), await dead(contract)];
    const again = await market.operator("POST", `/v1/dead-letters/${one}/redrive`, {});
    expect([again.status, again.body.handoff]).toMatchObject([202, { to: "provider", from: "asker" }]);
    await provider.works();
    expect((await told(contract)).fulfilment).toMatchObject({ fulfilled: 1, breaches: 2 });
    await asker.post(`/v1/contracts/${contract}/end`);
    const refused = await asker.post(`/v1/dead-letters/${two}/redrive`, {});
    expect([refused.status, refused.body.reason]).toEqual([428, "contract_ended"]);
  });

  it("goes without it to another target", async () => {
    const contract = await agreed();
    const id = await dead(contract);
    await asker.post(`/v1/contracts/${contract}/end`);
    await market.agent("another", [upper]);
    const got = await asker.post(`/v1/dead-letters/${id}/redrive`, { to: "another", capability: "upper" });
    expect([got.status, got.body.handoff.to]).toEqual([202, "another"]);
  });
});

describe("a question under a contract", () => {
  const why = async (contract: string) => (await told(contract)).fulfilment.by_reason;

  /** The provider asks this and waits until the deadline; the asker answers so, if at all. */
  async function asked(contract: string, schema: object, answer?: unknown): Promise<void> {
    await asker.submit({ contract, input });
    const { id, fence } = await provider.claim();
    const question = await provider.act(id, "ask", { fence, question: "How many?", schema, park: true });
    expect(question.status).toBe(200);
    if (answer !== undefined) {
      const refused = await asker.post(`/v1/questions/${question.body.id}/answer`, { answer });
      expect([refused.status, refused.body.reason, refused.body.fields]).toEqual([422, "answer_unfit", ["/answer"]]);
    }
    await market.clock.advance(minute);
  }
  /** Nothing that anybody would find fits it. */
  const riddle = { type: "string", pattern: "^[0-9]{64}$", not: { pattern: "[0-8]" } };

  it("that the asker leaves open is its silence, and that it tried to answer in vain is nobody's fault", async () => {
    const contract = await agreed();
    await asked(contract, riddle);
    expect(await why(contract)).toEqual({ asker_silent: 1 });
    await asked(contract, riddle, "9");
    expect(await why(contract)).toEqual({ asker_silent: 1, answer_refused: 1 });
  });

  it("is asked on the provider's own account where it demands more than those that it said it may ask", async () => {
    const count = { type: "integer", minimum: 0 };
    await provider.offers([{ ...upper, questions: [{ name: "how_many", schema: count }] }], { upper: price });
    const contract = await agreed();
    await asked(contract, riddle);
    await asked(contract, { ...count, minimum: 7 });
    expect(await why(contract)).toEqual({ late: 2 });
    await asked(contract, count);
    await asked(contract, { type: "number" });
    expect(await why(contract)).toEqual({ late: 2, asker_silent: 2 });
  });
});

describe("a provider that takes one at a time, for half a minute at most", () => {
  const fulfilment = async (contract: string) => (await told(contract)).fulfilment;
  beforeEach(() => provider.offers([{ ...upper, max_concurrent: 1 }], { upper: price }));

  /** So many, each with a minute to its deadline. */
  async function flood(contract: string, count: number, more: object = {}) {
    for (let time = 0; time < count; time++)
      expect((await asker.submit({ contract, input, ...more })).status).toBe(202);
  }

  /** Takes the next and has it done after so long. */
  async function workFor(ms: number) {
    const { id, fence } = await provider.claim();
    await provider.act(id, "ack", { fence });
    for (let left = ms; left > 0; left -= 10_000) {
      await market.clock.advance(Math.min(left, 10_000));
      expect((await provider.act(id, "heartbeat", { fence })).status).toBe(200);
    }
    return provider.act(id, "complete", { fence, output: 1 });
  }

  it("breaks nothing by what its asker sent beyond that", async () => {
    const contract = await agreed();
    await flood(contract, 5);
    await workFor(25_000);
    await workFor(25_000);
    await market.clock.advance(10_000);
    expect(await fulfilment(contract)).toMatchObject({ fulfilled: 2, breaches: 0, by_reason: { crowded: 3 } });
  });

  it("breaks nothing either where the asker's own work without a contract was in the way", async () => {
    const contract = await agreed();
    const free = { capability: "upper", input };
    for (const to of [{ to: "provider" }, {}]) expect((await asker.submit({ ...free, ...to })).status).toBe(202);
    await market.clock.advance(1);
    await flood(contract, 1);
    await workFor(25_000);
    await workFor(25_000);
    await market.clock.advance(10_000);
    expect(await fulfilment(contract)).toMatchObject({ fulfilled: 0, breaches: 0, by_reason: { crowded: 1 } });
  });

  it("breaks nothing either where the asker let its later work overtake by priority", async () => {
    const contract = await agreed();
    await flood(contract, 1);
    await flood(contract, 2, { priority: 9 });
    await workFor(25_000);
    await workFor(25_000);
    await market.clock.advance(10_000);
    expect(await fulfilment(contract)).toMatchObject({ fulfilled: 2, breaches: 0, by_reason: { crowded: 1 } });
  });

  it("breaks the contract by what it owed and let lie, though it took some at the last moment", async () => {
    const contract = await agreed();
    await flood(contract, 3);
    await market.clock.advance(55_000);
    await workFor(4_000);
    await provider.claim();
    await market.clock.advance(1_000);
    expect(await fulfilment(contract)).toMatchObject({ fulfilled: 1, breaches: 2, by_reason: { late: 2 } });
  });

  it("breaks it by idling after it failed the asker's other work at once", async () => {
    const contract = await agreed();
    for (let time = 0; time < 4; time++) await asker.submit({ to: "provider", capability: "upper", input });
    await market.clock.advance(1);
    await flood(contract, 1);
    const error = { reason: "broken", message: "It broke." };
    for (let time = 0; time < 4; time++) {
      const { id, fence } = await provider.claim();
      expect((await provider.act(id, "fail", { fence, error, retryable: false })).status).toBe(200);
    }
    await market.clock.advance(minute);
    expect(await fulfilment(contract)).toMatchObject({ breaches: 1, by_reason: { late: 1 } });
  });

  it("breaks it by what it was late with because it worked for others", async () => {
    const contract = await agreed();
    const other = await market.agent("other");
    for (let time = 0; time < 3; time++) await other.submit({ to: "provider", capability: "upper", input });
    await market.clock.advance(1);
    await flood(contract, 1);
    await workFor(25_000);
    await workFor(25_000);
    await market.clock.advance(10_000);
    expect(await fulfilment(contract)).toMatchObject({ breaches: 1, by_reason: { late: 1 } });
  });

  it("breaks nothing by what its asker let through one after the other, though it could have taken more at a time", async () => {
    await provider.offers([{ ...upper, max_concurrent: 4 }], { upper: price });
    const contract = await agreed();
    await flood(contract, 3, { ordering_key: "one by one" });
    await workFor(25_000);
    await workFor(25_000);
    await provider.claim();
    await market.clock.advance(10_000);
    expect(await fulfilment(contract)).toMatchObject({ fulfilled: 2, breaches: 0, by_reason: { blocked: 1 } });
  });

  it("is not judged by what the relay forgot in a restart", async () => {
    const contract = await agreed();
    await flood(contract, 1);
    await market.restart();
    await market.clock.advance(minute);
    expect(await fulfilment(contract)).toMatchObject({ breaches: 0, by_reason: { relay_away: 1 } });
  });
});

describe("a dead letter that is routed onward", () => {
  it("is nobody's contract any more: neither its price nor its formats hold at the desk, nor does its end count", async () => {
    await provider.offers([{ ...upper, output_schema: { type: "integer" } }], { upper: price });
    const contract = await agreed({ output_schema: { type: "integer" } });
    await asker.submit({ contract, input, dead_letter_to: "desk" });
    const first = await provider.claim();
    await provider.act(first.id, "fail", { fence: first.fence, error: { reason: "broken", message: "It broke." } });
    const once = (await told(contract)).fulfilment;
    expect(once).toMatchObject({ breaches: 1, by_reason: { failed: 1 } });
    const desk = await market.agent("desk", [{ name: "desk" }]);
    await market.clock.advance(1_000);
    const lease = await desk.claim();
    expect([lease.capability, lease.contract]).toEqual(["desk", undefined]);
    const done = await desk.act(lease.id, "complete", { fence: lease.fence, output: "by hand", usage: { cost: 500 } });
    expect([done.status, done.body.code]).toEqual([200, 200]);
    const routed = (await asker.get(`/v1/handoffs/${lease.id}`)).body;
    expect([routed.redrive_of, routed.contract, routed.spent]).toMatchObject([first.id, undefined, { cost: 500 }]);
    expect((await told(contract)).fulfilment).toEqual(once);
  });
});
