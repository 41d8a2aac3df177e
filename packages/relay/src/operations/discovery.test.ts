import { manifestContent, manifestDigest, openProof, parsePublicKey, toUtf8 } from "@handfast/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { card_extension } from "../directory/discovery/agent-card.ts";
import { nodeCrypto } from "../proof/node-crypto.ts";
import { signedAgent, testAgent } from "../testing/signed-agent.ts";
import { operator_token, TestRelay } from "../testing/test-relay.ts";

let relay: TestRelay;
const key = testAgent("research-agent-001");
const manifest = {
  version: 3,
  description: "Looks things up.",
  capabilities: [
    {
      name: "web_research",
      description: "Finds sources.",
      tags: ["web"],
      input_schema: { query: "string", depth: "int?" },
      output_schema: { sources: "array", summary: "string" },
      timeout_seconds: 300,
      reliability_sla: 0.95,
      examples: [{ title: "about fsync", input: { query: "fsync" } }],
    },
  ],
};

beforeAll(async () => {
  relay = await TestRelay.start();
  await signedAgent(relay, manifest, key);
  for (const name of ["alpha", "beta", "gamma"]) await relay.agent(name, { name: "chat", tags: ["talk"] });
});
afterAll(() => relay.stop());

describe("the discovery endpoint", () => {
  it("shows what the agent signed, so that nobody need trust the relay", async () => {
    const { status, body } = await relay.get("/v1/discovery/research-agent-001");
    expect(status).toBe(200);
    const document = JSON.parse(body.manifest.document);
    expect(document).toMatchObject({ agent_id: "research-agent-001", ...manifest });
    const parsed = parsePublicKey(nodeCrypto, document.key);
    const root = openProof(nodeCrypto, "registration", toUtf8(body.manifest.document), body.manifest.proof);
    if (!parsed.ok || root === null) throw new Error("no proof");
    expect(root.key).toBe(body.keys[0].thumbprint);
    expect(await nodeCrypto.verify(parsed.key.bytes, root.signed, root.sig)).toBe(true);
    expect(body.manifest.digest).toBe(manifestDigest(nodeCrypto, manifestContent(document)));
    expect(body).toMatchObject({
      identity: key.key,
      foreign: null,
      discovery_endpoint: `${relay.url}/v1/discovery/research-agent-001`,
    });
  });

  it("shows how it is now, and what was measured beside what is claimed", async () => {
    const { body } = await relay.get("/v1/discovery/research-agent-001");
    expect(body.liveness).toMatchObject({ state: "idle", workers: 0 });
    expect(body.reliability).toMatchObject([
      { capability: "web_research", claim: 0.95, status: "unproven", attempts: 0 },
    ]);
  });

  it("shows schemas in full, though the manifest writes them in shorthand", async () => {
    const { body } = await relay.get("/v1/discovery/research-agent-001");
    expect(body.capabilities[0].input_schema).toMatchObject({ type: "object", required: ["query"] });
  });

  it("knows no agent that was never registered", async () => {
    const { status, body } = await relay.get("/v1/discovery/nobody");
    expect([status, body.reason]).toEqual([404, "unknown_agent"]);
    expect((await relay.get("/v1/discovery/nobody@elsewhere.example")).status).toBe(404);
    expect((await relay.get("/v1/discovery/no%20name")).status).toBe(400);
  });

  it("is where the agent's own manifest says, where it says so", async () => {
    const own = "https://agent-registry.example.com/research-agent-002";
    await signedAgent(relay, { ...manifest, discovery_endpoint: own }, testAgent("research-agent-002"));
    expect((await relay.get("/v1/discovery/research-agent-002")).body.discovery_endpoint).toBe(own);
    const view = await relay.get("/v1/agents/research-agent-002", operator_token);
    expect(view.body.discovery_endpoint).toBe(own);
    const other = await relay.get("/v1/agents/alpha", operator_token);
    expect(other.body.discovery_endpoint).toBe(`${relay.url}/v1/discovery/alpha`);
  });
});

describe("the agent card", () => {
  it("has the fields of A2A 1.0, and our terms in an extension", async () => {
    const { body: card } = await relay.get("/v1/discovery/research-agent-001/agent-card.json");
    expect(card).toMatchObject({
      name: "research-agent-001",
      description: "Looks things up.",
      version: "3",
      supportedInterfaces: [{ url: relay.url, protocolVersion: "1.0" }],
      defaultInputModes: ["application/json"],
      defaultOutputModes: ["application/json"],
      skills: [
        {
          id: "web_research",
          name: "web_research",
          description: "Finds sources.",
          tags: ["web"],
          examples: ["about fsync"],
        },
      ],
    });
    const [extension] = card.capabilities.extensions;
    expect(extension).toMatchObject({ uri: card_extension, required: false });
    expect(extension.params).toMatchObject({
      relay: relay.url,
      namespace: "default",
      identity: key.key,
      capabilities: { web_research: { timeout_seconds: 300, reliability_sla: 0.95 } },
    });
    expect((await relay.get("/v1/discovery/research-agent-001")).body.card).toEqual(card);
  });
});

describe("the catalog", () => {
  const path = "/.well-known/ai-catalog.json";
  const entries = async (query = "") => JSON.parse((await relay.get(path + query)).text).entries;

  it("lists every agent with the address of its card", async () => {
    const got = await relay.get(path);
    expect(got.headers.get("content-type")).toContain("application/ai-catalog+json");
    const catalog = JSON.parse(got.text);
    expect(catalog.specVersion).toBe("1.0");
    expect(catalog.host.displayName).toContain(new URL(relay.url).host);
    const found = catalog.entries.find(
      ({ displayName }: { displayName: string }) => displayName === "research-agent-001",
    );
    expect(found).toMatchObject({
      identifier: `urn:air:${new URL(relay.url).host}:agent:research-agent-001`,
      type: "application/a2a-agent-card+json",
      mediaType: "application/a2a-agent-card+json",
      url: `${relay.url}/v1/discovery/research-agent-001/agent-card.json`,
      version: "3",
      tags: ["web"],
    });
    expect(await (await fetch(found.url)).json()).toMatchObject({ name: "research-agent-001" });
  });

  it("goes on in the next one, which is its last entry, until all were told", async () => {
    const told: string[] = [];
    let url: string | undefined = `${relay.url}${path}?limit=2`;
    while (url !== undefined) {
      const page: { type: string; url: string; displayName: string }[] = JSON.parse(
        await (await fetch(url)).text(),
      ).entries;
      const next = page.find(({ type }) => type === "application/ai-catalog+json");
      told.push(...page.filter((entry) => entry !== next).map(({ displayName }) => displayName));
      url = next?.url;
    }
    expect(told).toEqual(["alpha", "beta", "gamma", "research-agent-001", "research-agent-002"]);
  });

  it("is not sent again to whoever has it", async () => {
    const first = await relay.get(path);
    const tag = first.headers.get("etag") ?? "";
    const again = await relay.get(path, undefined, { "if-none-match": `"other", ${tag}` });
    expect([again.status, again.text]).toEqual([304, ""]);
    await relay.agent("delta", "chat");
    expect((await relay.get(path, undefined, { "if-none-match": tag })).status).toBe(200);
    await relay.call("DELETE", "/v1/agents/delta", { token: operator_token });
  });

  it("takes no more entries at a time than the wire allows", async () => {
    expect((await relay.get(`${path}?limit=501`)).status).toBe(400);
    expect((await entries("?after=beta")).map(({ displayName }: { displayName: string }) => displayName)[0]).toBe(
      "gamma",
    );
  });
});

describe("a relay in production", () => {
  const read = async (closed: TestRelay, token?: string) =>
    Promise.all(
      ["/v1/discovery/someone", "/v1/discovery/someone/agent-card.json", "/.well-known/ai-catalog.json"].map(
        async (path) => (await closed.get(path, token)).status,
      ),
    );
  const start = async (...flags: string[]) => {
    const closed = await TestRelay.start();
    await closed.agent("someone", "chat");
    await closed.pause();
    await closed.resume("--production", ...flags);
    return closed;
  };

  it("shows its directory to those it knows", async () => {
    const closed = await start();
    expect(await read(closed)).toEqual([401, 401, 401]);
    expect((await closed.get("/v1/discovery/someone")).body.reason).toBe("directory_closed");
    expect(await read(closed, operator_token)).toEqual([200, 200, 200]);
    await closed.stop();
  });

  it("shows it to anybody where its operator says so", async () => {
    const open = await start("--public-directory");
    expect(await read(open)).toEqual([200, 200, 200]);
    await open.stop();
  });
});
