import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
// The engine's own clock for tests: time that passes only when told to.
import { VirtualSurroundings } from "../../../engine/src/testing/virtual-surroundings.ts";
import type { FrameListener, FrameSocket } from "../transports/websocket/frame-socket.ts";
import { InProcessRelay } from "./in-process-relay.ts";

let surroundings: VirtualSurroundings;
let relay: InProcessRelay;

beforeEach(async () => {
  surroundings = new VirtualSurroundings(Date.UTC(2026, 0, 1));
  relay = await InProcessRelay.start({ surroundings });
});
afterEach(() => relay.stop());

interface Sent {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** What is read of replies, of one operation or another. */
interface Reply {
  readonly token: string;
  readonly id: string;
  readonly state: string;
  readonly accepted_at: number;
  readonly leases: readonly { readonly fence: number }[];
}

function request(method: string, path: string, { token, body, headers, signal }: Sent = {}): Promise<Response> {
  return relay.fetch(
    new Request(relay.url + path, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        "content-type": "application/json",
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    }),
  );
}

async function call(method: string, path: string, sent: Sent = {}): Promise<{ status: number; body: Reply }> {
  const response = await request(method, path, sent);
  return { status: response.status, body: JSON.parse(await response.text()) };
}

async function agent(name: string, ...capabilities: string[]): Promise<string> {
  const offered = capabilities.map((capability) => ({ name: capability }));
  const { body } = await call("POST", "/v1/tokens", { body: { agent: name, capabilities: offered } });
  return body.token;
}

async function submitted(token: string): Promise<string> {
  const { body } = await call("POST", "/v1/handoffs", { token, body: { capability: "shout", input: { text: "a" } } });
  return body.id;
}

test("a handoff goes from its submit to its end by fetch alone", async () => {
  const worker = await agent("worker", "shout");
  const sender = await agent("sender");
  const id = await submitted(sender);
  const claimed = await call("POST", "/v1/claims", { token: worker, body: { worker: "worker-1" } });
  const fence = claimed.body.leases[0]?.fence;
  const done = { fence, output: { text: "A" } };
  expect((await call("POST", `/v1/handoffs/${id}/complete`, { token: worker, body: done })).status).toBe(200);
  const { body } = await call("GET", `/v1/handoffs/${id}`, { token: sender });
  expect(body).toMatchObject({ state: "completed", outcome: { output: { text: "A" } } });
  expect((await relay.events(id)).map(({ type }) => type)).toEqual([
    "accepted",
    "delivered",
    "acknowledged",
    "completed",
  ]);
});

test("a wait ends by the clock it was given, and the deadline passes by the same one", async () => {
  const sender = await agent("sender");
  await agent("worker", "shout");
  const id = await submitted(sender);
  const waiting = call("GET", `/v1/handoffs/${id}?until=ended`, { token: sender, headers: { prefer: "wait=20" } });
  await surroundings.advance(20_000);
  expect((await waiting).body.state).toBe("queued");
  await surroundings.advance(15 * 60_000);
  const { body } = await call("GET", `/v1/handoffs/${id}`, { token: sender });
  expect(body).toMatchObject({ state: "expired", ended_at: body.accepted_at + 15 * 60_000 });
});

test("what goes wrong is a problem, as over the network", async () => {
  expect(await call("GET", "/v1/nothing")).toMatchObject({ status: 404, body: { reason: "unknown_path" } });
  expect(await call("GET", "/v1/handoffs")).toMatchObject({ status: 401 });
  const token = await agent("sender");
  expect(await call("GET", "/v1/handoffs/x", { token })).toMatchObject({ status: 400 });
  const response = await relay.fetch(
    new Request(`${relay.url}/v1/handoffs`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: "{",
    }),
  );
  expect(response.status).toBe(400);
});

test("a fetch that is aborted rejects with the reason, and the wait is over", async () => {
  const sender = await agent("sender");
  await agent("worker", "shout");
  const id = await submitted(sender);
  const { signal, ...controller } = abortable();
  const waiting = call("GET", `/v1/handoffs/${id}?until=ended`, {
    token: sender,
    headers: { prefer: "wait=20" },
    signal,
  });
  await surroundings.rest();
  controller.abort(new Error("no longer wanted"));
  await expect(waiting).rejects.toThrow("no longer wanted");
});

function abortable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: (reason: Error) => controller.abort(reason) };
}

test("events stream to those who ask for a stream, until the end", async () => {
  const sender = await agent("sender");
  await agent("worker", "shout");
  const id = await submitted(sender);
  const response = await request("GET", `/v1/handoffs/${id}/events`, {
    token: sender,
    headers: { accept: "text/event-stream" },
  });
  const text = response.text();
  await surroundings.rest();
  await call("POST", `/v1/handoffs/${id}/cancel`, { token: sender, body: {} });
  expect((await text).match(/^event: .*$/gm)).toEqual(["event: accepted", "event: canceled", "event: end"]);
});

test("artifacts are kept in memory, and forgotten with everything else", async () => {
  const token = await agent("sender");
  const sha256 = createHash("sha256").update("bytes").digest("hex");
  const put = await relay.fetch(
    new Request(`${relay.url}/v1/artifacts/${sha256}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${token}`, "content-type": "text/plain" },
      body: "bytes",
    }),
  );
  expect(put.status).toBe(201);
  const got = await request("GET", `/v1/artifacts/${sha256}`, { token });
  expect(await got.text()).toBe("bytes");
  await relay.pause();
  await relay.resume();
  expect((await request("GET", `/v1/artifacts/${sha256}`, { token })).status).toBe(200);
});

test("it goes on with what it knew after a pause, and with nothing after forgetting", async () => {
  const sender = await agent("sender");
  await agent("worker", "shout");
  const id = await submitted(sender);
  await relay.pause();
  await expect(request("GET", `/v1/handoffs/${id}`, { token: sender })).rejects.toThrow("not running");
  await relay.resume();
  expect((await call("GET", `/v1/handoffs/${id}`, { token: sender })).body.state).toBe("queued");
  await relay.pause();
  await relay.forget();
  await relay.resume();
  expect((await call("GET", `/v1/handoffs/${id}`, { token: sender })).status).toBe(401);
  expect(await relay.events()).toEqual([]);
});

test("sockets in memory are served as those of the network are; none while it is paused", async () => {
  const { token } = { token: await agent("sender") };
  const frames: unknown[] = [];
  let listener: FrameListener | null = null;
  const socket: FrameSocket = {
    send: (text) => frames.push(JSON.parse(text)),
    bufferedAmount: 0,
    pause: () => {},
    resume: () => {},
    ping: () => {},
    close: (code) => listener?.closed(code),
    terminate: () => listener?.closed(1006),
    listen: (given) => {
      listener = given;
    },
  };
  expect(relay.accept(socket)).toBe(true);
  const say = (frame: unknown) => listener?.frame(new TextEncoder().encode(JSON.stringify(frame)), false);
  say({ hello: { credential: token } });
  say({ calls: [{ n: 1, op: "list" }] });
  await surroundings.rest();
  expect(frames).toMatchObject([{ hello: { agent: "sender" } }, { replies: [{ n: 1, status: 200 }] }]);
  await relay.pause();
  expect(relay.accept(socket)).toBe(false);
});
