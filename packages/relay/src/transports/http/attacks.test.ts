import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type TestAgent, TestRelay } from "../../testing/test-relay.ts";

/** A request as it stands, and everything that comes back until the connection ends. */
function speak(relay: TestRelay, head: readonly string[], body = ""): { socket: Socket; answer: Promise<string> } {
  const { hostname, port, host } = new URL(relay.url);
  const socket = connect(Number(port), hostname);
  let got = "";
  const answer = new Promise<string>((resolve) => {
    socket.on("data", (chunk) => {
      got += chunk.toString("latin1");
    });
    socket.on("close", () => resolve(got));
    socket.on("error", () => {});
  });
  const [first = "", ...rest] = head;
  socket.write(`${[first, `host: ${host}`, "connection: close", ...rest].join("\r\n")}\r\n\r\n${body}`);
  return { socket, answer };
}

function problemIn(answer: string) {
  const [head = "", body = ""] = answer.split("\r\n\r\n", 2);
  expect(head.toLowerCase()).toContain("content-type: application/problem+json");
  const { status, reason, code } = JSON.parse(/\{.*\}/s.exec(body)?.[0] ?? "null");
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  return { status, reason, code };
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** An upload that declares a thousand bytes and brings three. */
const halfUpload = (relay: TestRelay, agent: TestAgent) =>
  speak(
    relay,
    [
      `PUT /v1/artifacts/${"0".repeat(64)} HTTP/1.1`,
      `authorization: Bearer ${agent.token}`,
      "content-type: image/png",
      "content-length: 1000",
    ],
    "abc",
  );
const incoming = async (relay: TestRelay) => (await readdir(join(relay.directory, "artifacts", "incoming"))).length;

describe("requests that are not quite HTTP", () => {
  let relay: TestRelay;
  let agent: TestAgent;
  beforeAll(async () => {
    relay = await TestRelay.start();
    agent = await relay.agent("attacker", "any");
  });
  afterAll(() => relay.stop());

  const auth = () => `authorization: Bearer ${agent.token}`;

  it.each(["", "json", "x", "application/json, text/plain"])("a Content-Type that is %j is a problem", async (type) => {
    const body = '{"capability":"any","input":1}';
    const head = ["POST /v1/handoffs HTTP/1.1", auth(), `content-type: ${type}`, `content-length: ${body.length}`];
    expect(problemIn(await speak(relay, head, body).answer)).toMatchObject({ status: 400, reason: "content_type" });
  });

  it("an address that cannot be decoded is a problem, and is not repeated", async () => {
    const answer = await speak(relay, ["GET /v1/handoffs/%zz<script> HTTP/1.1", auth()]).answer;
    expect(problemIn(answer)).toMatchObject({ status: 400 });
    expect(answer).not.toContain("script");
  });

  it("an id of 5,000 characters is a problem, and is not repeated", async () => {
    const answer = await speak(relay, [`GET /v1/handoffs/${"x".repeat(5_000)} HTTP/1.1`, auth()]).answer;
    expect(problemIn(answer)).toMatchObject({ status: 400 });
    expect(answer).not.toContain("xxxxxxxxxx");
  });

  it("an address that is not served is a problem, and is not repeated", async () => {
    const answer = await speak(relay, ["GET /v1/nothing-here HTTP/1.1", auth()]).answer;
    expect(problemIn(answer)).toMatchObject({ status: 404, reason: "unknown_operation" });
    expect(answer).not.toContain("nothing-here");
  });

  it("an unknown expectation is a problem", async () => {
    const answer = await speak(relay, ["GET /healthz HTTP/1.1", "expect: foo"]).answer;
    expect(problemIn(answer)).toEqual({ status: 417, reason: "expectation", code: 400 });
  });

  it.each(["DELETE", "HEAD", "PATCH", "OPTIONS"])(
    "%s where it is not served names the methods that are",
    async (method) => {
      const answer = await speak(relay, [`${method} /v1/handoffs HTTP/1.1`, auth()]).answer;
      expect(answer).toMatch(/^HTTP\/1.1 405 /);
      expect(answer.toLowerCase()).toMatch(/^allow: post, get\r$/m);
      if (method !== "HEAD") expect(problemIn(answer)).toMatchObject({ status: 405, reason: "unknown_method" });
    },
  );

  it("two Host, Authorization or Idempotency-Key headers are refused", async () => {
    const { host } = new URL(relay.url);
    for (const twice of [[`host: ${host}`], [auth(), auth()], [auth(), "idempotency-key: a", "idempotency-key: b"]]) {
      const answer = await speak(relay, ["GET /v1/outcomes HTTP/1.1", ...twice]).answer;
      expect(problemIn(answer)).toMatchObject({ status: 400, reason: "repeated_header" });
    }
  });

  it.each([
    ["nothing", ""],
    ["a tab", "a\tb"],
    ["257 characters", "k".repeat(257)],
  ])("an Idempotency-Key of %s is refused", async (_what, key) => {
    const body = '{"capability":"any","input":1}';
    const head = [
      "POST /v1/handoffs HTTP/1.1",
      auth(),
      "content-type: application/json",
      `content-length: ${body.length}`,
      `idempotency-key: ${key}`,
    ];
    expect(problemIn(await speak(relay, head, body).answer)).toMatchObject({ status: 400, reason: "idempotency_key" });
  });

  it("what is no request, behind one that is not answered yet, is not answered in its place", async () => {
    const head = ["GET /v1/outcomes HTTP/1.1", auth(), "prefer: wait=20"];
    const { socket, answer } = speak(relay, head, "this is no request\r\n\r\n");
    expect(await answer).toBe("");
    socket.destroy();
  });

  it("what is no request, behind a stream that goes on, is not written into it", async () => {
    const id = await agent.submit({ capability: "any", input: 1 });
    const head = [`GET /v1/handoffs/${id}/events HTTP/1.1`, auth(), "accept: text/event-stream"];
    const { socket, answer } = speak(relay, head);
    await new Promise((resolve) => socket.once("data", resolve));
    socket.write("this is no request\r\n\r\n");
    expect((await answer).split("HTTP/1.1 ")).toHaveLength(2);
  });

  it("a body whose sender goes away in the middle is no mistake of the relay", async () => {
    const cut_off = () => relay.figure('handfast_calls_total{operation="cancel",code="400"}');
    const path = "/v1/handoffs/01980000-0000-7000-8000-000000000000/cancel";
    const head = [`POST ${path} HTTP/1.1`, auth(), "content-type: application/json", "content-length: 100"];
    const { socket } = speak(relay, head, '{"reason":');
    await expect.poll(() => relay.figure('handfast_calls_total{operation="metrics",code="200"}')).toBeGreaterThan(1);
    socket.resetAndDestroy();
    await expect.poll(cut_off).toBe(1);
    expect(await relay.figure('handfast_faults_total{kind="mistake"}')).toBe(Number.NaN);
  });

  it("an unknown parameter is answered with those there are", async () => {
    const { body } = await agent.get("/v1/outcomes?colour=red");
    expect(body.detail).toContain("limit, cursor");
    expect(body.detail).not.toContain("labels");
  });
});

describe("one caller that wants everything", () => {
  let relay: TestRelay;
  afterEach(() => relay.stop());

  it("cannot make all the calls that wait", async () => {
    relay = await TestRelay.start({ limits: { waits_per_caller: 2 } });
    const hog = await relay.agent("hog");
    const other = await relay.agent("other");
    const wait = (agent: TestAgent) => agent.get("/v1/outcomes", { prefer: "wait=2" });
    const got = await Promise.all([wait(hog), wait(hog), wait(hog), wait(other)]);
    expect(got.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 429]);
    expect(got.find(({ status }) => status === 429)?.body.reason).toBe("too_many_waits");
    expect((await hog.get("/v1/outcomes")).status).toBe(200);
  });

  it("cannot have all the calls in flight", async () => {
    relay = await TestRelay.start({ limits: { calls_per_caller: 2 } });
    const hog = await relay.agent("hog");
    const calls = Array.from({ length: 3 }, () => hog.get("/v1/outcomes", { prefer: "wait=2" }));
    const got = await Promise.all(calls);
    expect(got.map(({ status }) => status).toSorted()).toEqual([200, 200, 429]);
    expect((await hog.get("/v1/outcomes")).status).toBe(200);
  });

  it("cannot keep the holder of a lease, or a health check, out of a full relay", async () => {
    relay = await TestRelay.start({ limits: { requests_in_flight: 3 } });
    const sender = await relay.agent("sender");
    const worker = await relay.agent("worker", "work");
    const id = await sender.submit({ capability: "work", input: 1 });
    const { fence } = await worker.claim();
    const gone = new AbortController();
    const crowd = ["a", "b", "c"].map((name) => relay.agent(name));
    for (const agent of await Promise.all(crowd)) {
      void relay
        .call("GET", "/v1/outcomes", { token: agent.token, headers: { prefer: "wait=30" }, signal: gone.signal })
        .catch(() => {});
    }
    await expect.poll(() => relay.figure('handfast_engine{what="waiters"}')).toBe(3);
    expect((await sender.get("/v1/outcomes")).body).toMatchObject({ status: 429, reason: "busy" });
    expect((await relay.get("/healthz")).status).toBe(200);
    for (const [act, more] of [
      ["ack", {}],
      ["heartbeat", {}],
      ["checkpoint", { state: 1 }],
      ["complete", { output: 1 }],
    ] as const) {
      expect((await worker.act(id, act, { fence, ...more })).status).toBe(200);
    }
    gone.abort();
  });

  it("cannot take every place for uploads", async () => {
    relay = await TestRelay.start();
    const hog = await relay.agent("hog");
    const other = await relay.agent("other");
    const open = Array.from({ length: 8 }, () => halfUpload(relay, hog));
    await expect.poll(() => incoming(relay)).toBe(8);
    const bytes = randomBytes(10);
    const put = (agent: TestAgent) =>
      relay.call("PUT", `/v1/artifacts/${sha256(bytes)}`, { token: agent.token, raw: bytes });
    expect((await put(hog)).body.reason).toBe("too_many_uploads");
    expect((await put(other)).status).toBe(201);
    for (const { socket } of open) socket.destroy();
    await expect.poll(async () => (await put(hog)).status).toBeLessThan(300);
  });

  it("cannot hold an upload open by a trickle", async () => {
    relay = await TestRelay.start({ limits: { upload_window_ms: 300 } });
    const { socket, answer } = halfUpload(relay, await relay.agent("trickling"));
    const drip = setInterval(() => socket.write("."), 50);
    expect(problemIn(await answer)).toMatchObject({ status: 408, reason: "upload_too_slow" });
    clearInterval(drip);
    await expect.poll(() => incoming(relay)).toBe(0);
  });

  it("cannot hold a relay that stops by half an upload", async () => {
    relay = await TestRelay.start();
    const { answer } = halfUpload(relay, await relay.agent("lingering"));
    await expect.poll(() => incoming(relay)).toBe(1);
    const began = performance.now();
    await relay.pause();
    expect(performance.now() - began).toBeLessThan(8_000);
    expect(problemIn(await answer)).toMatchObject({ status: 429, reason: "stopping" });
  });
});
