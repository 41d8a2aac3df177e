import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { operator_token, TestRelay } from "../testing/test-relay.ts";

let relay: TestRelay;
beforeAll(async () => {
  relay = await TestRelay.start();
});
afterAll(() => relay.stop());

describe("what the relay says about itself", () => {
  it("is healthy and ready", async () => {
    expect((await relay.get("/healthz")).body).toEqual({ status: "ok", reasons: [] });
    expect((await relay.get("/readyz")).body).toEqual({ status: "ok", reasons: [] });
  });

  it("states versions, limits, addresses, key and mode", async () => {
    const { body } = await relay.get("/.well-known/handfast");
    expect(body).toMatchObject({ versions: ["v1"], mode: "development", relay_key: { kty: "OKP" } });
    expect(body.public_urls).toContain(relay.url);
    expect(body.websocket_urls).toContain(`${relay.url.replace("http:", "ws:")}/v1/connect`);
    expect(body.features).toContain("websocket");
    expect(body.limits.inline_payload_bytes).toBe(1_000_000);
  });

  it("serves its OpenAPI description", async () => {
    const { body } = await relay.get("/v1/openapi.json");
    expect(body.openapi).toBe("3.1.0");
    expect(body.paths["/v1/handoffs"].post.operationId).toBe("submit");
  });

  it("counts calls and commits, and names nobody", async () => {
    const agent = await relay.agent("counted", "counting");
    await agent.submit({ capability: "counting", input: "private" });
    const { text } = await relay.get("/metrics");
    expect(text).toContain('handfast_calls_total{operation="submit",code="202"} 1');
    expect(text).toContain('handfast_handoffs{state="queued"} 1');
    expect(text).toMatch(/handfast_commit_seconds_count [1-9]/);
    expect(text).toContain("nodejs_eventloop_lag");
    expect(text).not.toContain("counted");
  });

  it("backs its store up for an operator", async () => {
    const got = await relay.post("/v1/backup", {}, operator_token);
    expect((await stat(got.body.path)).size).toBeGreaterThan(0);
    const named = await relay.post("/v1/backup", { name: "b.db" }, operator_token);
    expect(named.body.path).toBe(join(relay.directory, "backups", "b.db"));
    expect((await relay.post("/v1/backup", { name: "b.db" }, operator_token)).status).toBe(409);
  });
});

describe("agents", () => {
  it("are listed with what they offer, found by capability, changed and forgotten", async () => {
    const agent = await relay.agent("listed", "old");
    const put = await relay.call("PUT", "/v1/agents/listed/capabilities", {
      token: agent.token,
      body: { capabilities: [{ name: "new", description: "better" }] },
    });
    expect(put.status).toBe(200);
    const names = async (query: string) =>
      (await agent.get(`/v1/agents${query}`)).body.agents.map(({ name }: { name: string }) => name);
    expect(await names("?capability=new")).toEqual(["listed"]);
    expect(await names("?capability=old")).toEqual([]);
    expect((await agent.get("/v1/agents/nobody")).status).toBe(404);
    const other = await relay.agent("meddler");
    const foreign = { token: other.token, body: { capabilities: [] } };
    expect((await relay.call("PUT", "/v1/agents/listed/capabilities", foreign)).status).toBe(403);
    expect((await relay.call("DELETE", "/v1/agents/listed", { token: operator_token })).status).toBe(200);
    expect((await agent.get("/v1/outcomes")).status).toBe(401);
  });
});
