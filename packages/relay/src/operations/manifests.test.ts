/** Manifests over HTTP: registered, refused, listed, read by digest; and registrations that lapse by the relay's clock. */

import { manifestDigest, parseRawPublicKey, sealCost, verifyProof } from "@handfast/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VirtualSurroundings } from "../../../engine/src/testing/virtual-surroundings.ts";
import { type TestAgent as Keyed, testAgent } from "../identity/testing/test-agent.ts";
import { InProcessRelay } from "../in-process/in-process-relay.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { operator_token, TestRelay } from "../testing/test-relay.ts";

/** The example of the specification, word for word. */
const example = {
  agent_id: "research-agent-001",
  capabilities: [
    {
      name: "web_research",
      input_schema: { query: "string", depth: "int" },
      output_schema: { sources: "array", summary: "string" },
      timeout_seconds: 300,
      reliability_sla: 0.95,
    },
  ],
  discovery_endpoint: "https://agent-registry.example.com/research-agent-001",
};

let relay: TestRelay;
beforeAll(async () => {
  relay = await TestRelay.start();
});
afterAll(() => relay.stop());

async function register(agent: Keyed, said: object, costs?: object) {
  const { body } = await relay.post("/v1/agents/challenge", {});
  const header = { v: 1, typ: "registration", relay: relay.url, namespace: "default", agent_id: agent.name };
  const signed = await agent.sign("registration", { ...header, challenge: body.challenge, key: agent.jwk, ...said });
  return relay.post("/v1/agents", { signed, ...(costs === undefined ? {} : { costs }) });
}

describe("a manifest", () => {
  it("as in the specification's example is taken word for word, named by its digest, and does what it says", async () => {
    const agent = testAgent(example.agent_id);
    const registered = await register(agent, example);
    expect(registered.status).toBe(201);
    expect(registered.body.manifest).toBe(manifestDigest(nodeCrypto, example));
    const token = await agent.credential(relay.url, Date.now());
    const view = (await relay.get(`/v1/agents/${example.agent_id}`, token)).body;
    expect(view.discovery_endpoint).toBe(example.discovery_endpoint);
    expect(view.capabilities[0]).toMatchObject({
      name: "web_research",
      input_schema: { required: ["query", "depth"], additionalProperties: false },
      reliability_sla: 0.95,
    });
    expect((await relay.get(`/v1/manifests/${registered.body.manifest}`, token)).body.manifest).toEqual(example);
    expect(view.liveness).toMatchObject({ state: "idle" });

    const sender = await relay.agent("sender-of-example");
    const send = (input: unknown) => sender.post("/v1/handoffs", { capability: "web_research", input });
    expect((await send({ query: "fsync", depth: 2 })).status).toBe(202);
    expect((await send({ query: "fsync", depth: "2" })).body).toMatchObject({ code: 422 });
    expect((await send({ query: "fsync", depth: 2, more: 1 })).body).toMatchObject({ code: 422 });

    const claimed = await relay.post("/v1/claims", { worker: "w1" }, token, { prefer: "wait=10" });
    const [{ id, fence, manifest }] = claimed.body.leases;
    expect(manifest).toBe(registered.body.manifest);
    const complete = (output: unknown) =>
      relay.post(`/v1/handoffs/${id}/complete`, { worker: "w1", fence, output }, token);
    expect((await complete({ sources: "none", summary: "" })).body).toMatchObject({ code: 502 });
    expect((await complete({ sources: [], summary: "It flushes.", more: 1 })).status).toBe(200);
    expect((await relay.get(`/v1/agents/${example.agent_id}`, token)).body.liveness).toMatchObject({
      state: "live",
      workers: 1,
    });
  });

  it("can be read by its digest after newer ones, with the registration that its agent signed", async () => {
    const agent = testAgent("keeper");
    const first = (await register(agent, { capabilities: [{ name: "a" }], version: 1 })).body;
    const second = (await register(agent, { capabilities: [{ name: "b" }], version: 2, lease_seconds: 60 })).body;
    const token = await agent.credential(relay.url, Date.now());
    const list = (await relay.get("/v1/agents/keeper/manifests", token)).body;
    expect(list).toMatchObject({
      manifests: [
        { digest: second.manifest, version: 2, until: null, signed: true },
        { digest: first.manifest, version: 1, until: second.since, since: first.since, signed: true },
      ],
      after: null,
    });
    const page = (await relay.get("/v1/agents/keeper/manifests?limit=1", token)).body;
    expect(page.manifests.length).toBe(1);
    const rest = (await relay.get(`/v1/agents/keeper/manifests?limit=1&after=${page.after}`, token)).body;
    expect([...page.manifests, ...rest.manifests]).toEqual(list.manifests);
    expect(rest.after).toBeNull();

    const old = (await relay.get(`/v1/manifests/${first.manifest}`, token)).body;
    expect(old).toMatchObject({
      agent_id: "keeper",
      manifest: { agent_id: "keeper", capabilities: [{ name: "a" }], version: 1 },
    });
    expect(manifestDigest(nodeCrypto, JSON.parse(old.registration.document))).toBe(first.manifest);
    const key = parseRawPublicKey(nodeCrypto, Buffer.from(agent.jwk.x, "base64url"));
    if (!key.ok) throw new Error(key.fault);
    const { document, proof } = old.registration;
    expect(await verifyProof(nodeCrypto, key.key, "registration", Buffer.from(document), proof)).toBe(true);
    expect((await relay.get(`/v1/manifests/${"0".repeat(64)}`, token)).body).toMatchObject({
      code: 404,
      reason: "unknown_manifest",
    });
    expect((await relay.get("/v1/agents/nobody/manifests", token)).body).toMatchObject({
      code: 404,
      reason: "unknown_agent",
    });
    expect((await relay.get(`/v1/manifests/${first.manifest}`)).status).toBe(401);
  });

  it("of somebody who cannot sign takes the same fields by a token", async () => {
    const { token } = await relay.agent("plain-agent");
    const opening = { salt: "AAECAwQFBgcICQoLDA0ODw", cost: { amount: 7, per: "handoff" as const } };
    const capabilities = [{ name: "plain", input_schema: { a: "int?" }, cost: sealCost(nodeCrypto, opening) }];
    const body = { capabilities, version: 3, lease_seconds: 60, costs: { plain: opening } };
    const set = await relay.call("PUT", "/v1/agents/plain-agent/capabilities", { token, body });
    expect(set.body).toMatchObject({ version: 3, signed: false });
    const older = await relay.call("PUT", "/v1/agents/plain-agent/capabilities", {
      token,
      body: { ...body, version: 2 },
    });
    expect(older).toMatchObject({
      status: 409,
      body: { reason: "manifest_older", title: "A newer manifest is in force." },
    });
    const made = await relay.post("/v1/tokens", { agent: "by-token", capabilities, costs: { plain: opening } });
    expect(made.status).toBe(201);
    const { text } = await relay.get("/v1/agents/plain-agent", operator_token);
    expect(text).not.toContain(opening.salt);
  });
});

describe("a manifest that is refused", () => {
  const bomb = { $defs: {} as Record<string, unknown>, $ref: "#/$defs/d0" };
  for (let n = 0; n < 30; n++) {
    bomb.$defs[`d${n}`] = n === 29 ? true : { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] };
  }
  let deep: unknown = "string";
  for (let n = 0; n < 60; n++) deep = { a: deep };
  const circle = { $defs: { a: { items: { $ref: "#/$defs/a" } } }, $ref: "#/$defs/a" };
  const wide = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`f${n}`, "string"]));

  it.each([
    ["a claim of 1.5", { reliability_sla: 1.5 }, 400, "document_malformed", "/capabilities/0/reliability_sla"],
    ["a claim of 0", { reliability_sla: 0 }, 400, "document_malformed", "/capabilities/0/reliability_sla"],
    ["a name in another script", { name: "rеsearch" }, 400, "document_malformed", "/capabilities/0/name"],
    ["an unknown member", { timeout: 5 }, 400, "document_malformed", "/capabilities/0/timeout"],
    ["a cost in plain", { cost: { amount: 5, per: "handoff" } }, 400, "document_malformed", "/capabilities/0/cost"],
    ["a type that is none", { input_schema: { q: "strng" } }, 400, "schema_refused", "/capabilities/0/input_schema/q"],
    [
      "a circle of references",
      { input_schema: circle },
      400,
      "schema_refused",
      "/capabilities/0/input_schema/$defs/a/items",
    ],
    ["a bomb of references", { input_schema: bomb }, 400, "schema_refused", null],
    ["shorthand nested too deep", { input_schema: deep }, 400, null, null],
    ["shorthand of too many parts", { input_schema: wide }, 400, "schema_refused", null],
    [
      "an example that does not fit",
      { input_schema: { q: "string" }, examples: [{ input: { q: 1 } }] },
      400,
      "example_unfit",
      "/capabilities/0/examples/0/input",
    ],
  ])("%s", async (name, said, status, reason, path) => {
    const agent = testAgent(`bad-${name.replaceAll(/[^a-z0-9]/g, "-")}`);
    const started = performance.now();
    const got = await register(agent, { capabilities: [{ name: "x", ...said }] });
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(got.status).toBe(status);
    if (reason !== null) expect(got.body.reason).toBe(reason);
    if (path !== null) expect(got.body.path).toContain(path);
    expect((await relay.get(`/v1/agents/${agent.name}`, operator_token)).status).toBe(404);
  });

  it("says which character of a name is of another script", async () => {
    const named = await register(testAgent("named"), { capabilities: [{ name: "r\u0435search" }] });
    expect(named.body.detail).toContain('/capabilities/0/name is no name: it has "\u0435" (U+0435)');
    const called = await register(testAgent("\u0430gent"), { capabilities: [] });
    expect([called.status, called.body.path]).toEqual([400, "/agent_id"]);
    expect(called.body.detail).toContain("(U+0430)");
    const sought = await relay.post("/v1/discover", { capability: "r\u0435search" }, operator_token);
    expect([sought.status, sought.body.fields]).toEqual([400, ["/capability"]]);
    expect(sought.body.detail).toContain('"/capability" in the body is no name: it has "\u0435" (U+0435)');
  });

  it("says how deep a manifest may be nested", async () => {
    const said = JSON.parse(`${'{"a":'.repeat(70)}"string"${"}".repeat(70)}`);
    const got = await register(testAgent("deep"), { capabilities: [{ name: "x", input_schema: said }] });
    expect([got.status, got.body.reason]).toEqual([400, "document_malformed"]);
    expect(got.body.detail).toMatch(/is nested more than \d+ levels deep/);
  });

  it("for another agent's id: its key is not the one that the name belongs to", async () => {
    await register(testAgent("victim"), { capabilities: [{ name: "pay" }] });
    const got = await register({ ...testAgent("thief"), name: "victim" }, { capabilities: [{ name: "steal" }] });
    expect(got).toMatchObject({ status: 403, body: { reason: "name_taken" } });
    const { token } = await relay.agent("bystander");
    const plain = await relay.call("PUT", "/v1/agents/victim/capabilities", { token, body: { capabilities: [] } });
    expect(plain).toMatchObject({ status: 403, body: { reason: "not_yours" } });
    expect((await relay.get("/v1/agents/victim", operator_token)).body.capabilities).toEqual([{ name: "pay" }]);
  });

  it("as an older version, or as another content of the same", async () => {
    const agent = testAgent("versioned");
    const offer = (version: number, name: string) => register(agent, { capabilities: [{ name }], version });
    expect((await offer(5, "a")).status).toBe(201);
    expect(await offer(4, "b")).toMatchObject({ status: 409, body: { reason: "manifest_older", version_in_force: 5 } });
    expect(await offer(5, "b")).toMatchObject({ status: 409, body: { reason: "manifest_differs" } });
    expect((await offer(5, "a")).status).toBe(200);
    await relay.pause();
    await relay.resume();
    expect(await offer(4, "b")).toMatchObject({ status: 409, body: { reason: "manifest_older" } });
    expect((await offer(6, "b")).status).toBe(200);
  });
});

describe("a registration that lapses", () => {
  const day_ms = 24 * 60 * 60_000;

  /** What is read of replies, of one operation or another. */
  interface Reply {
    readonly token: string;
    readonly id: string;
    readonly state: string;
    readonly liveness: { readonly state: string };
    readonly leases: readonly { readonly id: string }[];
  }

  it("leaves the capability to nobody (406), queues for whoever wants to wait, and is back with its next sign of life", async () => {
    const surroundings = new VirtualSurroundings(Date.UTC(2026, 0, 1));
    const memory = await InProcessRelay.start({ surroundings });
    const call = async (method: string, path: string, token: string | null, body?: unknown): Promise<Reply> => {
      const headers = {
        "content-type": "application/json",
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      };
      const text = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await memory.fetch(new Request(memory.url + path, { method, headers, ...text }));
      return JSON.parse(await response.text());
    };
    const agent = async (name: string, ...capabilities: object[]): Promise<string> =>
      (await call("POST", "/v1/tokens", null, { agent: name, capabilities })).token;
    const worker = await agent("worker", { name: "shout", input_schema: { text: "string" } });
    const sender = await agent("sender");
    const send = (input: object, more: object = {}) =>
      call("POST", "/v1/handoffs", sender, {
        capability: "shout",
        input,
        limits: { deadline_ms: 10 * day_ms },
        ...more,
      });
    const liveness = async () => (await call("GET", "/v1/agents/worker", sender)).liveness.state;

    expect(await send({ text: "a" })).toMatchObject({ state: "queued" });
    await call("POST", "/v1/claims", worker, { worker: "w1" });
    expect(await liveness()).toBe("live");
    await surroundings.advance(2 * 60_000);
    expect(await liveness()).toBe("idle");
    await surroundings.advance(day_ms);
    expect(await liveness()).toBe("lapsed");
    expect(await send({ text: "b" })).toMatchObject({ code: 406 });
    const waiting = await send({ text: "c" }, { queue_if_absent: true });
    const unfit = await send({ text: 5 }, { queue_if_absent: true });
    expect([waiting.state, unfit.state]).toEqual(["queued", "queued"]);

    await memory.pause();
    await surroundings.advance(day_ms);
    await memory.resume();
    const { leases } = await call("POST", "/v1/claims", worker, { worker: "w1", slots: 10 });
    const ids = leases.map(({ id }) => id);
    expect(ids).toContain(waiting.id);
    // Nobody asked at its accept whether it fits this agent: it is asked before it is handed out.
    expect(ids).not.toContain(unfit.id);
    expect(await liveness()).toBe("live");
    expect(await send({ text: "d" })).toMatchObject({ state: "queued" });
    await memory.stop();
  });
});
