import { randomBytes } from "node:crypto";
import { type Capability, type Cost, sealCost, toBase64url } from "@handfast/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { operator_token, TestAgent, TestRelay } from "../testing/test-relay.ts";

let relay: TestRelay;
let asker: TestAgent;

/** A capability that seals its price, and what opens it. */
function priced(capability: Capability, cost: Cost): { capability: Capability; costs: object } {
  const opening = { salt: toBase64url(randomBytes(16)), cost };
  return { capability: { ...capability, cost: sealCost(nodeCrypto, opening) }, costs: { [capability.name]: opening } };
}

async function sells(name: string, capability: Capability, cost: Cost): Promise<TestAgent> {
  const { capability: sealed, costs } = priced(capability, cost);
  const made = await relay.post("/v1/tokens", { agent: name, capabilities: [sealed], costs });
  if (made.status !== 201) throw new Error(made.text);
  return new TestAgent(relay, name, made.body.token);
}

const discover = (need: object, who = asker) => who.post("/v1/discover", need);
const names = async (need: object, who = asker) =>
  (await discover(need, who)).body.hits.map(({ agent_id }: { agent_id: string }) => agent_id);

const research: Capability = {
  name: "web_research",
  version: "1.4.0",
  description: "Finds sources on the web and sums them up.",
  tags: ["research", "web"],
  input_schema: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
  timeout_seconds: 300,
  reliability_sla: 0.95,
  side_effects: "none",
  data_policy: { retention_seconds: 0, regions: ["eu"], trains: false, shares: false },
};

beforeAll(async () => {
  // However slow the machine is: what is compared is told by their number.
  relay = await TestRelay.start({ limits: { discovery_compare_ms: 60_000 } });
  asker = await relay.agent("asker");
  await relay.agent("scout", research);
  await relay.agent("veteran", { ...research, version: "2.0.0", timeout_seconds: 30, tags: ["research"] });
  await relay.agent("painter", { name: "draw_picture", description: "Paints what it is told.", tags: ["image"] });
  await relay.agent("writer", { name: "write_report", description: "Writes a report of any sources.", tags: ["text"] });
});
afterAll(() => relay.stop());

describe("discovery by need", () => {
  it("finds a capability by its name, and says so", async () => {
    const { status, body } = await discover({ capability: "draw_picture" });
    expect(status).toBe(200);
    expect(body).toMatchObject({ found: 1, whole: true, hits: [{ agent_id: "painter", cost: null, foreign: null }] });
    expect(body.hits[0].why).toContain("It is called draw_picture.");
  });

  it("takes only versions of the range", async () => {
    expect(await names({ capability: "web_research", version: "^1.2" })).toEqual(["scout"]);
    expect(await names({ capability: "web_research", version: ">=2" })).toEqual(["veteran"]);
  });

  it("refuses a version that is no range", async () => {
    const { status, body } = await discover({ version: ">=newest" });
    expect([status, body.reason, body.fields]).toEqual([400, "version_range", ["/version"]]);
  });

  it("finds by words, those in the name before those in the description", async () => {
    const { body } = await discover({ words: "Reports with sources" });
    expect(body.hits.map(({ agent_id }: { agent_id: string }) => agent_id)).toEqual(["writer", "veteran", "scout"]);
    expect(body.hits[0].score).toBe(1);
    expect(body.hits[0].why[0]).toBe("Its name has report; its description has source.");
  });

  it("says which of the words are nowhere in what was found", async () => {
    const { body } = await discover({ words: "reports to the moon" });
    expect(body.hits[0].why[0]).toBe("Its name has report. It says nothing of moon.");
  });

  it("names what is nowhere as it was asked for, not as it is searched for", async () => {
    const some = await discover({ words: "reports of this status" });
    expect(some.body.hits[0].why[0]).toBe("Its name has report. It says nothing of this and status.");
    const none = await discover({ words: "nobody knows this" });
    expect(none.body.near[0].lacks).toContain("It says nothing of nobody, knows and this.");
  });

  it("is met by nobody where its words hold nothing that can be looked for", async () => {
    for (const words of ["\u{1f600}", "?!", "f".repeat(64)]) {
      const { status, body } = await discover({ words });
      const lack = `Nothing is found by ${words}: a word is of 1 to 40 letters and digits.`;
      expect([status, body.near[0]?.lacks]).toEqual([406, expect.arrayContaining([lack])]);
    }
    expect((await discover({ words: " " })).status).toBe(200);
  });

  it("demands every tag", async () => {
    expect(await names({ tags: ["research", "web"] })).toEqual(["scout"]);
    expect((await names({ tags: ["research"] })).sort()).toEqual(["scout", "veteran"]);
  });

  it("lists everybody for an empty need", async () => {
    const { body } = await discover({});
    expect(body.found).toBe(4);
    expect(body.hits).toHaveLength(4);
  });

  it("shows no more than it is asked for, and says how many there are", async () => {
    const { body } = await discover({ limit: 1 });
    expect([body.hits.length, body.found]).toEqual([1, 4]);
  });

  it("answers the same need in the same order", async () => {
    expect(await names({ words: "sources" })).toEqual(await names({ words: "sources" }));
  });

  it("puts one that is live before one that is idle", async () => {
    const twins = { name: "twin", description: "The same." };
    await relay.agent("twin-a", twins);
    const live = await relay.agent("twin-b", twins);
    expect(await names({ capability: "twin" })).toEqual(["twin-a", "twin-b"]);
    await live.post("/v1/claims", { worker: "twin-b-1" });
    expect(await names({ capability: "twin" })).toEqual(["twin-b", "twin-a"]);
    const { body } = await discover({ capability: "twin", live: true });
    expect(body.hits).toMatchObject([{ agent_id: "twin-b", liveness: { state: "live", workers: 1 } }]);
    expect(body.near).toMatchObject([{ agent_id: "twin-a", lacks: [expect.stringContaining("It is idle")] }]);
  });

  it("goes by the time that is claimed", async () => {
    expect(await names({ capability: "web_research", within_ms: 60_000 })).toEqual(["veteran"]);
    const { body } = await discover({ capability: "web_research", within_ms: 60_000 });
    expect(body.near[0].lacks).toEqual(["It may take 5 minutes, which is more than 1 minute."]);
  });

  it("takes a claim of reliability for what it is", async () => {
    const { body } = await discover({ capability: "web_research", min_reliability: 0.9 });
    expect(body.hits[0].why.join(" ")).toContain("It claims to succeed in at least 0.9 of its attempts");
    expect(body.hits[0].reliability).toMatchObject({ claim: 0.95, status: "unproven", attempts: 0 });
    expect((await discover({ capability: "web_research", min_reliability: 0.99 })).status).toBe(406);
  });

  it("counts what is not promised as not met", async () => {
    const policy = { retention_seconds: 3_600, regions: ["eu", "us"], trains: false, shares: false };
    expect(await names({ tags: ["web"], data_policy: policy, side_effects: "none" })).toEqual(["scout"]);
    const { status, body } = await discover({ capability: "draw_picture", data_policy: policy, side_effects: "none" });
    expect([status, body.reason]).toEqual([406, "nobody_meets"]);
    expect(body.near[0].lacks).toEqual([
      "It does not promise to keep what it is given for 1 hour at most.",
      "It does not promise to work in eu and us only.",
      "It does not promise not to train on it.",
      "It does not promise not to share it.",
      "It does not say what side effects it has.",
    ]);
  });

  it("tells of the nearest misses what they lack, where nobody meets a need", async () => {
    const { status, body } = await discover({ capability: "web_reserach" });
    expect([status, body.code, body.reason]).toEqual([406, 406, "nobody_meets"]);
    expect(body.near[0]).toEqual({
      agent_id: "scout",
      capability: "web_research",
      version: "1.4.0",
      lacks: ["It is called web_research, not web_reserach."],
    });
    expect(body.detail).toContain("It is called web_research, not web_reserach.");
  });

  it("gives an agent that names no discovery endpoint the relay's own", async () => {
    const { body } = await discover({ capability: "draw_picture" });
    expect(body.hits[0].discovery_endpoint).toBe(`${relay.url}/v1/discovery/painter`);
    expect((await relay.get("/v1/discovery/painter")).status).toBe(200);
  });

  it("follows what an agent offers, at once", async () => {
    const changing = await relay.agent("changing", { name: "before", description: "whatever" });
    expect(await names({ capability: "before" })).toEqual(["changing"]);
    const put = { token: changing.token, body: { capabilities: [{ name: "after" }] } };
    expect((await relay.call("PUT", "/v1/agents/changing/capabilities", put)).status).toBe(200);
    expect(await names({ capability: "after" })).toEqual(["changing"]);
    expect((await discover({ capability: "before" })).status).toBe(406);
    await relay.call("DELETE", "/v1/agents/changing", { token: operator_token });
    expect((await discover({ capability: "after" })).status).toBe(406);
  });

  it("knows the same after a restart", async () => {
    const before = await discover({ words: "sources" });
    await relay.pause();
    await relay.resume();
    expect((await discover({ words: "sources" })).body.hits.map(({ why }: { why: string[] }) => why[0])).toEqual(
      before.body.hits.map(({ why }: { why: string[] }) => why[0]),
    );
  });
});

describe("schemas", () => {
  const input_schema = { type: "object", properties: { url: { type: "string", maxLength: 10 } }, required: ["url"] };
  const output_schema = { type: "object", properties: { size: { type: "integer" } }, required: ["size"] };

  beforeAll(async () => {
    await relay.agent("fetcher", { name: "fetch", input_schema, output_schema });
    await relay.agent("taker", { name: "fetch" });
  });

  it("that nothing fits promise nothing, whatever is asked for", async () => {
    const wanted = { type: "object", properties: { words: { type: "integer" } }, required: ["words"] };
    await relay.agent("honest", { name: "count_all", output_schema: wanted });
    const output_schema = { ...wanted, minProperties: 2, maxProperties: 1 };
    await relay.agent("hollow", { name: "count_all", output_schema });
    const { body } = await discover({ capability: "count_all", output_schema: { words: "int" } });
    expect(body.hits).toMatchObject([
      { agent_id: "honest", schemas: { output: { verdict: "proven" } } },
      { agent_id: "hollow", schemas: { output: { verdict: "unknown" } } },
    ]);
    const made = await asker.post("/v1/negotiations", { capability: "count_all", output_schema: { words: "int" } });
    expect(made.body.offers.map(({ agent_id }: { agent_id: string }) => agent_id)).toEqual(["honest"]);
  });

  it("that fit are proven to", async () => {
    const need = {
      capability: "fetch",
      input_schema: { type: "object", properties: { url: { enum: ["a", "b"] } }, required: ["url"] },
      output_schema: { type: "object", properties: { size: { type: "number" } }, required: ["size"] },
    };
    const { body } = await discover(need);
    expect(body.hits.map(({ agent_id }: { agent_id: string }) => agent_id)).toEqual(["fetcher", "taker"]);
    expect(body.hits[0].schemas).toEqual({ input: { verdict: "proven" }, output: { verdict: "proven" } });
    expect(body.hits[0].why).toContain("It takes what you have: proven.");
    expect(body.hits[0].why).toContain("It gives what you want: proven.");
  });

  it("of one that says nothing of them are taken for what they are", async () => {
    const { body } = await discover({
      capability: "fetch",
      input_schema: { url: "string" },
      output_schema: { size: "int" },
    });
    const { schemas, why } = body.hits.find(({ agent_id }: { agent_id: string }) => agent_id === "taker");
    expect(schemas.input).toEqual({ verdict: "proven", because: "it takes anything" });
    expect(schemas.output).toEqual({ verdict: "unknown", because: "it does not say what its output is like" });
    expect(why).toContain("Whether it gives what you want is unknown: it does not say what its output is like.");
  });

  it("that do not fit are refuted by a value that shows it", async () => {
    const { body } = await discover({ capability: "fetch", input_schema: { url: "string" } });
    expect(body.hits).toMatchObject([{ agent_id: "taker" }]);
    const [miss] = body.near;
    expect(miss).toMatchObject({ agent_id: "fetcher", schemas: { input: { verdict: "refuted", path: "/url" } } });
    expect(miss.schemas.input.counterexample.url.length).toBeGreaterThan(10);
    expect(miss.lacks[0]).toContain(`It does not take ${JSON.stringify(miss.schemas.input.counterexample)}`);
  });

  it("tell an input that many refuse no more often than the answer has room for", async () => {
    const needs_number = { input_schema: { type: "object", required: ["n"], properties: { n: { type: "integer" } } } };
    for (const name of ["one", "two", "three"]) await relay.agent(`counts-${name}`, { name: "count", ...needs_number });
    const refused = async (chars: number) => {
      const need = { capability: "count", input: { q: "x".repeat(chars) } };
      const asked = [await discover(need), await asker.post("/v1/negotiations", need)];
      return asked.map(({ body }) => body.near.filter((miss: { schemas?: object }) => miss.schemas).length);
    };
    expect(await refused(1_000)).toEqual([3, 3]);
    expect(await refused(600_000)).toEqual([1, 1]);
  });

  it("are tried on the very input that somebody has", async () => {
    const fits = await discover({ capability: "fetch", input: { url: "short" } });
    expect(fits.body.hits).toHaveLength(2);
    expect(fits.body.hits[0].schemas).toMatchObject({ input: { verdict: "proven" }, output: { verdict: "unasked" } });
    const { body } = await discover({ capability: "fetch", input: { url: "much too long" } });
    expect(body.hits).toMatchObject([{ agent_id: "taker" }]);
    expect(body.near[0].lacks[0]).toMatch(/^It does not take \{"url":"much too long"\}: \/url/);
  });

  it("may be written in shorthand, and are refused where they cannot be read", async () => {
    expect((await discover({ output_schema: { size: "int" }, capability: "fetch" })).status).toBe(200);
    const refused = await discover({ input_schema: { type: "object", properties: { a: { $ref: "#/nowhere" } } } });
    expect([refused.status, refused.body.reason]).toEqual([400, "schema_refused"]);
  });

  it("that were not compared say so, and are no reason to be left out", async () => {
    const hasty = await TestRelay.start({ limits: { discovery_comparisons: 1, discovery_compare_ms: 60_000 } });
    const agent = await hasty.agent("asker");
    for (const [index, name] of ["one", "two", "three"].entries()) {
      await hasty.agent(name, { name: "same", input_schema: { ...input_schema, minProperties: index } });
    }
    const { body } = await agent.post("/v1/discover", { capability: "same", input_schema: { url: "string" } });
    expect(body.near).toMatchObject([{ schemas: { input: { verdict: "refuted" } } }]);
    expect(body.hits).toHaveLength(2);
    for (const { schemas } of body.hits) {
      expect(schemas.input).toMatchObject({ verdict: "unknown", because: expect.stringMatching(/^not compared: /) });
    }
    // What one call found out, the next one knows: it gets further.
    const again = await agent.post("/v1/discover", { capability: "same", input_schema: { url: "string" } });
    expect(again.body.hits).toHaveLength(1);
    await hasty.stop();
  });
});

describe("what was measured", () => {
  let worker: TestAgent;
  const measured = async () => (await discover({ capability: "count" })).body.hits[0];

  beforeAll(async () => {
    worker = await sells("counter", { name: "count", reliability_sla: 0.05 }, { amount: 1, per: "handoff" });
    for (let n = 0; n < 4; n += 1) await work();
  });

  async function work(): Promise<void> {
    await asker.submit({ capability: "count", input: 1 });
    const { id, fence } = await worker.claim();
    await worker.act(id, "ack", { fence });
    await worker.act(id, "complete", { fence, output: 1 });
  }

  it("stands beside what is claimed", async () => {
    const { reliability, why } = await measured();
    expect(reliability).toMatchObject({ claim: 0.05, status: "verified", attempts: expect.closeTo(4, 2) });
    expect(why.join(" ")).toMatch(
      /claims to succeed in 0.05 of its attempts; measured were 0.\d+ to 1 over 4 attempts: verified/,
    );
  });

  it("goes before what is claimed, of time and of reliability, where there were attempts enough", async () => {
    expect((await discover({ capability: "count", within_ms: 60_000 })).status).toBe(406);
    for (let n = 4; n < 20; n += 1) await work();
    const { body } = await discover({ capability: "count", within_ms: 60_000, min_reliability: 0.2 });
    expect(body.hits[0].why.slice(1, 3)).toEqual([
      expect.stringMatching(/^95 of 100 of its attempts were measured to take .* at most, within 1 minute\.$/),
      "It is measured to succeed in at least 0.2 of its attempts.",
    ]);
  });

  it("is the same after a restart, though looks stand in the log among the events", async () => {
    const before = (await measured()).reliability.attempts;
    for (let restart = 1; restart <= 2; restart += 1) {
      await relay.pause();
      await relay.resume();
      expect((await measured()).reliability.attempts).toBeCloseTo(before + restart - 1, 2);
      await work();
    }
  });
});

describe("sealed prices", () => {
  let rival: TestAgent;
  const looks = async (agent: string) => {
    const { text } = await relay.get(`/v1/log?agent=${agent}`, operator_token);
    const lines = text.split("\n").filter((line) => line.includes('"looked"'));
    return lines.map((line) => JSON.parse(line).event);
  };

  beforeAll(async () => {
    await sells("dear", { name: "translate" }, { amount: 5_000, per: "handoff" });
    rival = await sells("cheap", { name: "translate" }, { amount: 2_000, per: "handoff" });
  });

  it("are shown to the asker, the cheaper first, and each look is in the log", async () => {
    const { body } = await discover({ capability: "translate" });
    expect(body.hits).toMatchObject([
      { agent_id: "cheap", cost: { amount: 2_000, per: "handoff" } },
      { agent_id: "dear", cost: { amount: 5_000, per: "handoff" } },
    ]);
    expect((await looks("dear")).at(-1)).toEqual({
      namespace: "default",
      type: "looked",
      at: expect.any(Number),
      by: "asker",
      agents: ["cheap", "dear"],
      capability: "translate",
    });
  });

  it("are not shown to a rival, nor told by their order or by a limit", async () => {
    const before = (await looks("dear")).length;
    const { body } = await discover({ capability: "translate" }, rival);
    expect(body.hits).toMatchObject([
      { agent_id: "cheap", cost: { amount: 2_000 } },
      { agent_id: "dear", cost: null },
    ]);
    const limited = await discover({ capability: "translate", max_cost: { amount: 9_999, per: "handoff" } }, rival);
    expect(limited.body.hits.map(({ agent_id }: { agent_id: string }) => agent_id)).toEqual(["cheap"]);
    expect(limited.body.near[0].lacks).toEqual(["Its price is sealed, and not shown to the asker."]);
    expect(await looks("dear")).toHaveLength(before);
  });

  it("filter by what may be spent, and to be told how one compares is a look", async () => {
    const before = (await looks("dear")).length;
    const { body } = await discover({ capability: "translate", max_cost: { amount: 3_000, per: "handoff" } });
    expect(body.hits).toMatchObject([{ agent_id: "cheap" }]);
    expect(body.near).toMatchObject([
      { agent_id: "dear", lacks: ["It costs 5000 per handoff, more than 3000 per handoff."] },
    ]);
    expect(await looks("dear")).toHaveLength(before + 1);
  });

  it("are looked at by whoever is told how many are low enough, or who is not, without being shown them", async () => {
    const most = { amount: 9_999, per: "handoff" };
    const counted = await discover({ capability: "translate", max_cost: most, limit: 1 });
    expect([counted.body.hits.length, counted.body.found]).toEqual([1, 2]);
    expect((await looks("dear")).at(-1)).toMatchObject({ by: "asker", agents: ["cheap", "dear"] });
    for (let n = 1; n <= 6; n += 1)
      await sells(`dearer-${n}`, { name: "translate" }, { amount: 5_000 + n, per: "handoff" });
    const { body } = await discover({ capability: "translate", max_cost: { amount: 3_000, per: "handoff" } });
    expect(body.near.map(({ agent_id }: { agent_id: string }) => agent_id)).not.toContain("dearer-6");
    expect((await looks("dearer-6")).at(-1)).toMatchObject({ by: "asker" });
  });

  it("are seen by an operator", async () => {
    const { body } = await relay.post("/v1/discover", { capability: "translate" }, operator_token);
    expect(body.hits.slice(0, 2)).toMatchObject([{ cost: { amount: 2_000 } }, { cost: { amount: 5_000 } }]);
  });
});

describe("a version that is no range", () => {
  it("is taken for the version of that name, as a handoff takes it", async () => {
    await relay.agent("owl", { name: "watch", version: "nightly" });
    expect(await names({ capability: "watch", version: "nightly" })).toEqual(["owl"]);
    expect((await discover({ capability: "watch", version: "weekly" })).status).toBe(406);
    const submit = async (version: string) => {
      const { status, body } = await asker.post("/v1/handoffs", { capability: "watch", version, input: {} });
      return [status, body.reason];
    };
    expect(await submit("nightly")).toEqual([202, undefined]);
    expect(await submit("weekly")).toEqual([406, "no_such_version"]);
    expect(await submit(">=newest")).toEqual([400, "version_range"]);
  });
});
