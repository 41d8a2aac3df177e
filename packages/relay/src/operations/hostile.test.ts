import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testAgent } from "../identity/testing/test-agent.ts";
import { operator_token, type TestAgent, TestRelay } from "../testing/test-relay.ts";

let relay: TestRelay;
let sender: TestAgent;
let worker: TestAgent;
beforeAll(async () => {
  relay = await TestRelay.start();
  sender = await relay.agent("sender");
  worker = await relay.agent("worker", "work");
});
afterAll(() => relay.stop());

const output_schema = { type: "object", required: ["n"], properties: { n: { type: "integer" } } };

describe("what the sender expects", () => {
  it("an output that fits it is taken, one that does not is told why", async () => {
    const id = await sender.submit({ capability: "work", input: 1, expects: { output_schema } });
    const { fence } = await worker.claim();
    const unfit = await worker.act(id, "complete", { fence, output: { n: "one" } });
    expect([unfit.status, unfit.body.code, unfit.body.detail]).toEqual([422, 502, "/n: must be integer."]);
    const fitting = await worker.act(id, "complete", { fence, output: { n: 1 } });
    expect([fitting.status, fitting.body.code]).toEqual([200, 200]);
  });

  it("a schema that takes long to compile comes with a handoff", async () => {
    const properties = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`p${n}`, { type: "string" }]));
    const got = await sender.post("/v1/handoffs", {
      capability: "work",
      input: 1,
      expects: { output_schema: { properties } },
    });
    expect([got.status, got.body.reason]).toEqual([400, "schema_refused"]);
    expect(got.body.detail).toMatch(/\/expects\/output_schema.* has more than 300 parts/);
  });
});

describe("a schema and an input that cost too much together", () => {
  it("are refused with a clear fault", async () => {
    const input_schema = { items: { anyOf: [...Array(60).fill({ type: "string" }), {}] } };
    await relay.agent("costly", { name: "costly", input_schema });
    const got = await sender.post("/v1/handoffs", { capability: "costly", input: Array(400_000).fill(1) });
    expect([got.status, got.body.code]).toEqual([422, 422]);
    expect(got.body.detail).toMatch(/too large to be checked against this schema/);
  });
});

describe("a retry that writes out an empty field", () => {
  it.each([
    [{ limits: {} }, {}],
    [{}, { limits: {} }],
    [{ expects: {} }, {}],
    [{}, { expects: {} }],
  ])("%j and then %j is the same content", async (first, second) => {
    const idempotency_key = JSON.stringify([first, second]);
    const id = await sender.submit({ capability: "work", input: 1, idempotency_key, ...first });
    const again = await sender.post("/v1/handoffs", { capability: "work", input: 1, idempotency_key, ...second });
    expect([again.status, again.body.id, again.body.repeated]).toEqual([202, id, true]);
  });
});

describe("a lease shorter than the stalls that the relay notices", () => {
  it.each([
    [1_999, 400],
    [2_000, 202],
  ])("of %i ms is answered with %i", async (lease_ms, status) => {
    const got = await sender.post("/v1/handoffs", { capability: "work", input: 1, limits: { lease_ms } });
    expect(got.status).toBe(status);
    if (status === 400) expect(got.body.fields).toEqual(["/limits/lease_ms"]);
  });
});

describe("a name that belongs to somebody", () => {
  it("a second anonymous token for it is refused, and says what to do", async () => {
    const got = await relay.post("/v1/tokens", { agent: "sender" });
    expect([got.status, got.body.reason]).toEqual([403, "name_taken"]);
    expect(got.body.detail).toMatch(/choose another name/);
    expect(got.body.detail).toMatch(/operator-token/);
  });

  it("its own token and the operator's get further ones", async () => {
    for (const token of [sender.token, operator_token]) {
      expect((await relay.post("/v1/tokens", { agent: "sender" }, token)).status).toBe(201);
    }
  });

  it("a key of a stranger does not take it over, a key brought with its token does", async () => {
    const owner = await relay.agent("owned", "before");
    const key = testAgent("owned");
    const register = async (token?: string) => {
      const { challenge } = (await relay.post("/v1/agents/challenge", {})).body;
      const header = { v: 1, typ: "registration", relay: relay.url, namespace: "default", agent_id: "owned" };
      const document = { ...header, challenge, key: key.jwk, capabilities: [{ name: "before" }] };
      return relay.post("/v1/agents", { signed: await key.sign("registration", document) }, token);
    };
    expect((await register()).status).toBe(403);
    expect((await owner.get("/v1/outcomes")).status).toBe(200);
    expect((await register(owner.token)).status).toBe(200);
    const put = { token: owner.token, body: { capabilities: [] } };
    const replaced = await relay.call("PUT", "/v1/agents/owned/capabilities", put);
    expect([replaced.status, replaced.body.reason]).toEqual([403, "not_yours"]);
    const credential = await key.credential(relay.url, Date.now());
    expect((await relay.call("PUT", "/v1/agents/owned/capabilities", { ...put, token: credential })).status).toBe(200);
  });
});

describe("the title of a problem", () => {
  it("does not speak of a handoff's end where the call is meant", async () => {
    const id = await sender.submit({ capability: "work", input: 1 });
    const taken = await sender.post(`/v1/handoffs/${id}/take`);
    expect([taken.status, taken.body.title]).toEqual([409, "The handoff has not ended."]);
  });
});
