/** What handlers say of themselves, as it arrives in the manifest at a real relay. */

import { manifestDigest, sealCost, toBase64url } from "@handfast/protocol";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { TestRelay } from "../../../relay/src/testing/test-relay.ts";
import type { Client } from "../client.ts";
import { type ConnectOptions, connect } from "../connect.ts";
import { currentPlatform } from "../platform.ts";
import { realSurroundings } from "../surroundings.ts";

let relay: TestRelay;
const clients: Client[] = [];
beforeAll(async () => {
  relay = await TestRelay.start();
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(() => relay.stop());

const newKey = () => toBase64url(realSurroundings.randomBytes(32));

async function open(options: ConnectOptions): Promise<Client> {
  const client = await connect({ url: relay.url, ...options });
  clients.push(client);
  return client;
}

const everything = {
  input: { query: "string", "depth?": "int" },
  output: { summary: "string" },
  timeout: "5m",
  description: "Reads the web.",
  version: "1.2.0",
  tags: ["web"],
  idempotent: true,
  reliability: 0.95,
  sla: { window: "1d", conditions: "On weekdays." },
  sideEffects: "none",
  examples: [{ title: "One", input: { query: "fsync" }, output: { summary: "It flushes." } }],
  maxConcurrent: 4,
  latency: { p50: "2s", p95: "20s" },
  cost: { amount: 2_000, per: "handoff" },
  dataPolicy: { retention: "1h", regions: ["eu"], trains: false, shares: false },
  questions: [{ name: "which", description: "Which one?", schema: { choice: "string" } }],
  proposes: true,
  handler: () => ({ summary: "" }),
} as const;

describe("what a handler says of itself", () => {
  test("is in the manifest, in the words of the wire, with its cost sealed", async () => {
    const worker = await open({
      agent: "ann",
      key: newKey(),
      lease: "2h",
      discoveryEndpoint: "https://a.example/ann",
      manifestVersion: 3,
    });
    await worker.serve({ research: everything });
    const view = await worker.call("agent", { params: { name: "ann" } });
    const { manifest, registration } = await worker.call("manifest", {
      params: { digest: view.manifest?.digest ?? "" },
    });
    expect(view.capabilities[0]?.input_schema).toMatchObject({ type: "object", additionalProperties: false });
    expect(manifest.capabilities[0]).toEqual({
      name: "research",
      input_schema: { query: "string", "depth?": "int" },
      output_schema: { summary: "string" },
      timeout_seconds: 300,
      description: "Reads the web.",
      version: "1.2.0",
      tags: ["web"],
      idempotent: true,
      reliability_sla: 0.95,
      sla: { window_seconds: 86_400, conditions: "On weekdays." },
      side_effects: "none",
      examples: everything.examples,
      max_concurrent: 4,
      latency: { p50_ms: 2_000, p95_ms: 20_000 },
      cost: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      data_policy: { retention_seconds: 3_600, regions: ["eu"], trains: false, shares: false },
      questions: everything.questions,
      proposes: true,
    });
    expect(view).toMatchObject({ discovery_endpoint: "https://a.example/ann", manifest: { version: 3, signed: true } });
    const { crypto } = await currentPlatform();
    expect(manifest.lease_seconds).toBe(7_200);
    expect(manifestDigest(crypto, JSON.parse(registration?.document ?? "{}"))).toBe(view.manifest?.digest);
    expect(registration?.document).not.toContain("2000}");
  });

  test("is the same manifest in every process of the agent, cost and all, so that it is registered once", async () => {
    const key = newKey();
    const first = await open({ agent: "two", key });
    await first.serve({ research: everything });
    const before = await first.call("agent", { params: { name: "two" } });
    const second = await open({ agent: "two", key });
    await second.serve({ research: everything });
    const { manifests } = await second.call("manifests", { params: { name: "two" } });
    // The first is the empty one of an agent that has just come.
    expect(manifests.map(({ digest }) => digest)).toEqual([before.manifest?.digest, expect.any(String)]);
    await second.serve({ research: { ...everything, cost: { amount: 1, per: "handoff" } } });
    expect((await second.call("manifests", { params: { name: "two" } })).manifests.length).toBe(2);
    const third = await open({ agent: "two", key });
    await third.serve({ research: { ...everything, cost: { amount: 1, per: "handoff" } } });
    expect((await third.call("manifests", { params: { name: "two" } })).manifests.length).toBe(3);
  });

  test("goes by a token too, with its cost sealed by that", async () => {
    const { token } = await relay.agent("bearer");
    const worker = await open({ token, lease: "1h" });
    await worker.serve({ research: everything });
    const view = await worker.call("agent", { params: { name: "bearer" } });
    expect(view.capabilities[0]?.cost).toEqual({ sha256: expect.any(String) });
    expect(view.capabilities[0]?.cost?.sha256).not.toBe(
      sealCost((await currentPlatform()).crypto, { salt: "AAAAAAAAAAAAAAAAAAAAAA", cost: everything.cost }).sha256,
    );
    const again = await open({ token, lease: "1h" });
    await again.serve({ research: everything });
    expect((await again.call("manifests", { params: { name: "bearer" } })).manifests.length).toBe(2);
  });

  test("in shorthand is checked as it says", async () => {
    const worker = await open({ agent: "short", key: newKey() });
    await worker.serve({
      shorthand: {
        input: { n: "int" },
        output: { sum: "int" },
        handler: (input) => ({ sum: (input as { n: number }).n }),
      },
    });
    const handle = await worker.send<{ sum: number }>("shorthand", { n: 2 });
    expect(await handle.result()).toEqual({ sum: 2 });
    await expect(worker.send("shorthand", { n: 2, m: 3 })).rejects.toMatchObject({ code: 422 });
  });
});

describe("what is refused before it is sent", () => {
  test.each([
    [{ reliability: 1.5 }, /reliability of x is 1.5/],
    [{ reliability: 0 }, /reliability of x is 0/],
    [{ reliabilty: 1 }, /"reliabilty" is not an option/],
    [{ examples: [{ input: 1n }] }, /cannot be written as JSON/],
    [{ latency: { p50: "soon" } }, /The latency of x/],
  ])("%o", async (terms, message) => {
    const worker = await open({ agent: "strict", key: newKey() });
    const definition = { ...terms, handler: () => 1 } as unknown as () => number;
    await expect(worker.serve({ x: definition })).rejects.toThrow(message);
    await worker.close();
    await relay.call("DELETE", "/v1/agents/strict", { token: "operator-token-for-tests-only" });
  });

  test.each([
    [{ lease: "1s" }, /option lease/],
    [{ lease: "31d" }, /option lease/],
    [{ manifestVersion: 0 }, /manifestVersion is 0/],
    [{ discoveryEndpoint: "a.example" }, /discoveryEndpoint/],
  ])("%o", async (options, message) => {
    await expect(
      connect({ url: relay.url, agent: "never", key: newKey(), ...(options as ConnectOptions) }),
    ).rejects.toThrow(message);
  });
});
