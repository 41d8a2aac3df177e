import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { TestRelay } from "../../testing/test-relay.ts";

/** Sends lines as they are and collects what comes back until the connection ends. */
function speak(url: string, text: string): { readonly socket: Socket; readonly answer: Promise<string> } {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let got = "";
  const answer = new Promise<string>((resolve) => {
    socket.on("data", (chunk) => {
      got += chunk.toString("latin1");
    });
    socket.on("close", () => resolve(got));
    socket.on("error", () => {});
  });
  socket.write(text);
  return { socket, answer };
}

describe("a server with little patience", () => {
  let relay: TestRelay;
  beforeAll(async () => {
    relay = await TestRelay.start({
      limits: {
        headers_timeout_ms: 300,
        body_timeout_ms: 300,
        sse_drain_ms: 300,
        sse_keep_alive_ms: 100,
        stop_ms: 2_000,
      },
    });
  });
  afterAll(() => relay.stop());

  it("does not wait for headers that never end", async () => {
    const { answer } = speak(relay.url, "POST /v1/handoffs HTTP/1.1\r\nhost: x\r\n");
    expect(await answer).toMatch(/^HTTP\/1.1 408 [\s\S]*"reason":"request_timeout"/);
  });

  it("does not wait for a body that drips", async () => {
    const { token } = await relay.agent("dripping");
    const { host } = new URL(relay.url);
    const head = [
      "POST /v1/handoffs HTTP/1.1",
      `host: ${host}`,
      `authorization: Bearer ${token}`,
      "content-type: application/json",
      "content-length: 1000",
    ];
    const { socket, answer } = speak(relay.url, `${head.join("\r\n")}\r\n\r\n{`);
    const drip = setInterval(() => socket.write(" "), 50);
    expect(await answer).toMatch(/^HTTP\/1.1 408 [\s\S]*connection: close[\s\S]*"reason":"body_timeout"/i);
    clearInterval(drip);
  });

  it("does not wait for an artifact that stopped coming", async () => {
    const { token } = await relay.agent("stopping");
    const { host } = new URL(relay.url);
    const head = [`PUT /v1/artifacts/${"0".repeat(64)} HTTP/1.1`, `host: ${host}`, `authorization: Bearer ${token}`];
    const { answer } = speak(relay.url, `${head.join("\r\n")}\r\ncontent-length: 1000\r\n\r\nabc`);
    expect(await answer).not.toContain("HTTP/1.1 2");
  });

  it("answers what is not HTTP", async () => {
    expect(await speak(relay.url, "hello\r\n\r\n").answer).toMatch(/^HTTP\/1.1 400 [\s\S]*"reason":"not_http"/);
    const long = `GET / HTTP/1.1\r\nx: ${"y".repeat(40_000)}\r\n\r\n`;
    expect(await speak(relay.url, long).answer).toMatch(/^HTTP\/1.1 413 /);
  });

  it("keeps an idle stream alive with comments", async () => {
    const sender = await relay.agent("idle-sender");
    await relay.agent("idle-worker", "idle");
    const id = await sender.submit({ capability: "idle", input: 1 });
    const response = await fetch(`${relay.url}/v1/handoffs/${id}/events`, {
      headers: { accept: "text/event-stream", authorization: `Bearer ${sender.token}` },
    });
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += new TextDecoder().decode(chunk);
      if (text.includes(": keep-alive")) break;
    }
    expect(text).toContain("event: accepted");
  });

  it("tells a reader that asked for one answer only that the connection ends with the stream", async () => {
    const sender = await relay.agent("closing-sender");
    await relay.agent("closing-worker", "closing");
    const id = await sender.submit({ capability: "closing", input: 1 });
    const headers = { accept: "text/event-stream", authorization: `Bearer ${sender.token}`, connection: "close" };
    const asked = request(`${relay.url}/v1/handoffs/${id}/events`, { headers, agent: false }).end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    expect(response.headers.connection).toBe("close");
    asked.destroy();
  });

  it("cuts a reader that does not read, and goes on serving others", async () => {
    const sender = await relay.agent("slow-sender");
    await relay.agent("slow-worker", "slow");
    const correlation_id = "slow";
    const batch = (start: number) => ({
      handoffs: Array.from({ length: 1_000 }, (_, index) => ({
        capability: "slow",
        input: start + index,
        correlation_id,
      })),
    });
    for (let at = 0; at < 15; at++) await sender.post("/v1/handoffs/batch", batch(at * 1_000));
    const { host } = new URL(relay.url);
    const head = [
      "GET /v1/correlations/slow/events HTTP/1.1",
      `host: ${host}`,
      "accept: text/event-stream",
      `authorization: Bearer ${sender.token}`,
    ];
    const { socket } = speak(relay.url, `${head.join("\r\n")}\r\n\r\n`);
    socket.pause();
    await expect.poll(() => relay.figure("handfast_streams_cut_total"), { timeout: 30_000, interval: 200 }).toBe(1);
    expect(await relay.figure("handfast_streams")).toBe(0);
    expect((await sender.get("/v1/handoffs?limit=1")).status).toBe(200);
    socket.destroy();
  });
});

describe("a server that stops", () => {
  it("waits for no connection on which nothing was asked", async () => {
    const patient_ms = 4 * 60_000;
    const relay = await TestRelay.start({ limits: { headers_timeout_ms: patient_ms, stop_ms: patient_ms } });
    const { answer } = speak(relay.url, "");
    await relay.get("/healthz");
    await relay.stop();
    expect(await answer).toBe("");
  });
});

describe("a server that is not for everybody", () => {
  let relay: TestRelay;
  afterEach(() => relay.stop());

  it("checks Host and Origin in development mode", async () => {
    relay = await TestRelay.start();
    const { host } = new URL(relay.url);
    const ask = (headers: string) =>
      speak(relay.url, `GET /healthz HTTP/1.1\r\nconnection: close\r\n${headers}\r\n\r\n`).answer;
    expect(await ask(`host: ${host}`)).toMatch(/^HTTP\/1.1 200/);
    expect(await ask("host: evil.example")).toMatch(/^HTTP\/1.1 403 [\s\S]*foreign_host/);
    expect(await ask(`host: ${host}\r\norigin: http://evil.example`)).toMatch(/^HTTP\/1.1 403 [\s\S]*foreign_origin/);
    expect(await ask(`host: ${host}\r\norigin: http://${host}`)).toMatch(/^HTTP\/1.1 200/);
    expect(await ask(`host: ${host}`)).not.toMatch(/access-control/i);
  });

  it("answers behind a proxy to its public Host, and on the machine itself to where it listens", async () => {
    relay = await TestRelay.start({ flags: ["--public-url", "https://relay.example"] });
    const { host: address, port } = new URL(relay.listens_on);
    const ask = (host: string) =>
      speak(relay.listens_on, `GET /healthz HTTP/1.1\r\nconnection: close\r\nhost: ${host}\r\n\r\n`).answer;
    expect(await ask("relay.example")).toMatch(/^HTTP\/1.1 200/);
    expect(await ask(address)).toMatch(/^HTTP\/1.1 200/);
    expect(await ask(`rebound.example:${port}`)).toMatch(/^HTTP\/1.1 403 [\s\S]*foreign_host/);
  });

  it("tells a flood when to come back, each caller apart", async () => {
    relay = await TestRelay.start({ flags: ["--requests-per-second", "1", "--request-burst", "5"] });
    const hasty = await relay.agent("hasty");
    const calm = await relay.agent("calm");
    const statuses: number[] = [];
    for (let at = 0; at < 7; at++) {
      const got = await hasty.get("/v1/outcomes");
      statuses.push(got.status);
      if (got.status === 429) expect(got.headers.get("retry-after")).toBe("1");
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
    expect((await calm.get("/v1/outcomes")).status).toBe(200);
  });

  it("ends long polls and streams when it stops, and keeps the leases for its return", async () => {
    relay = await TestRelay.start();
    const sender = await relay.agent("staying-sender");
    const worker = await relay.agent("staying-worker", "stay");
    const id = await sender.submit({ capability: "stay", input: 1 });
    const { fence } = await worker.claim();
    await worker.act(id, "ack", { fence });
    const poll = sender.get(`/v1/handoffs/${id}`, { prefer: "wait=60" });
    const stream = sender.get(`/v1/handoffs/${id}/events`, { accept: "text/event-stream" });
    const claim = worker.post("/v1/claims", { worker: "staying-worker-1" }, { prefer: "wait=60" });
    await expect.poll(() => relay.figure('handfast_engine{what="waiting_claims"}')).toBeGreaterThan(0);
    const began = performance.now();
    await relay.pause();
    expect(performance.now() - began).toBeLessThan(5_000);
    expect((await poll).body.state).toBe("working");
    expect((await stream).text).toContain("retry: 3000");
    expect((await claim).body.leases).toEqual([]);
    await relay.resume();
    expect((await worker.act(id, "complete", { fence, output: "done" })).status).toBe(200);
    expect((await sender.get(`/v1/handoffs/${id}`)).body).toMatchObject({ state: "completed", attempts: 1, fence: 1 });
  });

  it("ends what waits on a credential that was revoked", async () => {
    relay = await TestRelay.start();
    const sender = await relay.agent("revoked");
    const waiting = sender.get("/v1/outcomes", { prefer: "wait=60" });
    const { tokens } = (await sender.get("/v1/tokens")).body;
    await expect.poll(() => relay.figure('handfast_engine{what="waiters"}')).toBeGreaterThan(0);
    expect((await relay.call("DELETE", `/v1/tokens/${tokens[0].id}`, { token: sender.token })).status).toBe(200);
    expect((await waiting).status).toBe(200);
    expect((await sender.get("/v1/outcomes")).status).toBe(401);
  });

  it("gives back leases that the worker could not be handed", async () => {
    relay = await TestRelay.start();
    const sender = await relay.agent("large-sender");
    const worker = await relay.agent("large-worker", "large");
    const text = "x".repeat(900_000);
    for (let at = 0; at < 16; at++) await sender.submit({ capability: "large", text });
    const { host } = new URL(relay.url);
    const body = JSON.stringify({ worker: "w1", slots: 16 });
    const head = [
      "POST /v1/claims HTTP/1.1",
      `host: ${host}`,
      `authorization: Bearer ${worker.token}`,
      "content-type: application/json",
      `content-length: ${body.length}`,
    ];
    const { socket } = speak(relay.url, `${head.join("\r\n")}\r\n\r\n${body}`);
    socket.pause();
    const delivered = async () => (await sender.get("/v1/handoffs?state=delivered")).body.handoffs.length;
    await expect.poll(delivered).toBe(16);
    socket.destroy();
    await expect.poll(delivered).toBe(0);
    expect(await worker.claim({ worker: "w2" })).toMatchObject({ fence: 2, attempt: 1 });
  });
});
