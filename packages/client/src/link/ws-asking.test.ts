/** Calls over a socket that the test rules, and a clock that it moves. */

import { afterEach, expect, test } from "vitest";
import { nodeCrypto } from "../identity/node-crypto.ts";
import type { Surroundings } from "../surroundings.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { HttpExchange } from "./http-exchange.ts";
import { HttpLink } from "./http-link.ts";
import type { CallOptions } from "./link.ts";
import { RuledSocket } from "./testing/ruled-socket.ts";
import { WsLink } from "./ws-link.ts";

const id = "01a1e29d-7c11-7e06-8622-5fd5a7d71fa3";
const busy = { code: 503, reason: "no_room", detail: "Come back.", retryable: true };
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const links: WsLink[] = [];
afterEach(async () => {
  await Promise.all(links.splice(0).map((link) => link.close(0)));
});

/** One call, which was sent and waits for its answer. */
async function asking(options: CallOptions = {}, features?: readonly string[]) {
  const clock = new VirtualClock(0);
  const socket = new RuledSocket();
  const surroundings: Surroundings = {
    now: () => clock.now(),
    after: (ms, run) => clock.after(ms, run),
    random: () => 0.5,
    randomBytes: (count) => new Uint8Array(count),
  };
  const url = "http://relay.example";
  const identity = { signer: null, authorization: async () => "credential", readmit: async () => {} };
  const shared = { identity, crypto: nodeCrypto, surroundings, patience_ms: 30_000 };
  const http = new HttpLink({ ...shared, exchange: new HttpExchange(url, fetch, surroundings) });
  const link = new WsLink({ ...shared, url, open: () => ({ socket, hold: () => {}, drop: () => {} }), http });
  links.push(link);
  const answer = link.call("get", { params: { id } }, options).then(
    (reply) => ({ reply }),
    (error: unknown) => ({ error }),
  );
  socket.greets(features);
  await turn();
  return { link, socket, clock, answer };
}

test("an answer may say less: that is asked for where the relay knows it", async () => {
  const { socket, answer } = await asking({ minimal: true }, ["prefer_minimal"]);
  expect(socket.calls).toMatchObject([{ return: "minimal" }]);
  socket.says({ replies: [{ n: socket.numbers[0], status: 204 }] });
  expect(await answer).toEqual({ reply: undefined });
});

test("an answer may say less: a relay that does not know it is not asked", async () => {
  const { socket, answer } = await asking({ minimal: true });
  expect(socket.calls).toHaveLength(1);
  expect(socket.calls[0]).not.toHaveProperty("return");
  socket.says({ replies: [{ n: socket.numbers[0], status: 200, body: { state: "queued" } }] });
  expect(await answer).toEqual({ reply: { state: "queued" } });
});

test("the relay says to come back: the call is made again then, under a number of its own", async () => {
  const { socket, clock, answer } = await asking();
  socket.says({ replies: [{ n: socket.numbers[0], status: 503, problem: busy, retry_after_ms: 2_000 }] });
  await turn();
  clock.moveTo(1_999);
  await turn();
  expect(socket.numbers).toHaveLength(1);
  clock.fireNext(2_000);
  await turn();
  await turn();
  const [first, second] = socket.numbers;
  expect(second).toBeGreaterThan(first ?? 0);
  socket.says({ replies: [{ n: second, status: 200, body: { state: "queued" } }] });
  expect(await answer).toEqual({ reply: { state: "queued" } });
});

test("a wait that the relay ends early is asked for anew", async () => {
  const { socket, clock, answer } = await asking({ wait_ms: 60_000 });
  socket.says({ replies: [{ n: socket.numbers[0], status: 200, body: { state: "queued" } }] });
  await turn();
  clock.fireNext(5_000);
  await turn();
  await turn();
  expect(socket.numbers).toHaveLength(2);
  socket.says({ replies: [{ n: socket.numbers[1], status: 200, body: { state: "completed" } }] });
  expect(await answer).toEqual({ reply: { state: "completed" } });
});

test("an answer that is none for what was asked is told to the caller, and nobody else", async () => {
  const { link, socket, answer } = await asking({ wait_ms: 60_000 });
  const other = link.call("get", { params: { id } });
  await turn();
  const [first, second] = socket.numbers;
  socket.says({
    replies: [
      { n: first, status: 200, body: null },
      { n: second, status: 200, body: { state: "queued" } },
    ],
  });
  expect(await answer).toMatchObject({ error: expect.any(TypeError) });
  expect(await other).toEqual({ state: "queued" });
});

test("a call that is given up while it pauses is not made again", async () => {
  const given_up = new AbortController();
  const { socket, clock, answer } = await asking({ signal: given_up.signal });
  socket.says({ replies: [{ n: socket.numbers[0], status: 503, problem: busy, retry_after_ms: 2_000 }] });
  await turn();
  given_up.abort("enough");
  expect(await answer).toEqual({ error: "enough" });
  clock.fireNext(10_000);
  await turn();
  expect(socket.numbers).toHaveLength(1);
});

test("a call that pauses while the link is closed is told so", async () => {
  const { link, socket, answer } = await asking();
  socket.says({ replies: [{ n: socket.numbers[0], status: 503, problem: busy, retry_after_ms: 2_000 }] });
  await turn();
  await link.close(0);
  expect(await answer).toMatchObject({ error: { reason: "closed" } });
});
