/** A caller that first writes all it has, and only then reads, hears why it is refused. */

import { connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { type TestAgent, TestRelay } from "../../testing/test-relay.ts";

let relay: TestRelay;
afterEach(() => relay.stop());

/** Also where it fails: what came before counts. */
const whenClosed = (socket: Socket) => new Promise<void>((resolve) => socket.once("close", () => resolve()));

const chunk = "x".repeat(0x10_000);

/** Writes it all before it reads anything; answers everything that came back. */
async function writeThenRead(head: readonly string[], body: string): Promise<string> {
  const { hostname, port, host } = new URL(relay.url);
  const socket = connect(Number(port), hostname);
  const failed: string[] = [];
  socket.on("error", (error) => failed.push(error.message));
  const [first = "", ...rest] = head;
  socket.pause();
  const written = Promise.withResolvers<void>();
  socket.write(`${[first, `host: ${host}`, ...rest].join("\r\n")}\r\n\r\n`);
  socket.write(body, () => written.resolve());
  const closed = whenClosed(socket);
  await Promise.race([written.promise, closed]);
  let got = "";
  socket.on("data", (piece) => {
    got += piece.toString("latin1");
  });
  socket.resume();
  await closed;
  expect(failed).toEqual([]);
  return got;
}

const json = (size: number) => ["content-type: application/json", `content-length: ${size}`];
const submit = "POST /v1/handoffs HTTP/1.1";
const auth = (agent: TestAgent) => `authorization: Bearer ${agent.token}`;
const repeats = 5;

it.each([900_000, 20_000_000])("%i bytes by nobody: 401", async (size) => {
  relay = await TestRelay.start();
  for (let time = 0; time < repeats; time += 1) {
    expect(await writeThenRead([submit, ...json(size)], " ".repeat(size))).toMatch(/^HTTP\/1.1 401 /);
  }
});

it("a body that says it is too large, and one that turns out to be: 413", async () => {
  relay = await TestRelay.start();
  const agent = await relay.agent("large");
  const chunked = ["content-type: application/json", "transfer-encoding: chunked"];
  const chunks = `10000\r\n${chunk}\r\n`.repeat(200);
  for (let time = 0; time < repeats; time += 1) {
    const declared = await writeThenRead([submit, auth(agent), ...json(20_000_000)], " ".repeat(20_000_000));
    expect(declared).toMatch(/^HTTP\/1.1 413 /);
    const found = await writeThenRead([submit, auth(agent), ...chunked], `${chunks}0\r\n\r\n`);
    expect(found).toMatch(/^HTTP\/1.1 413 /);
  }
});

it("an upload by nobody, an address that is none, an odd expectation: each is told", async () => {
  relay = await TestRelay.start();
  const size = 5_000_000;
  const body = " ".repeat(size);
  const upload = [`PUT /v1/artifacts/${"0".repeat(64)} HTTP/1.1`, "content-type: image/png", `content-length: ${size}`];
  expect(await writeThenRead(upload, body)).toMatch(/^HTTP\/1.1 401 /);
  expect(await writeThenRead(["POST /v1/nowhere HTTP/1.1", ...json(size)], body)).toMatch(/^HTTP\/1.1 404 /);
  expect(await writeThenRead([submit, "expect: wonders", ...json(size)], body)).toMatch(/^HTTP\/1.1 417 /);
});

it("what is left of the body is not taken for a request", async () => {
  relay = await TestRelay.start();
  const hidden = `GET /healthz HTTP/1.1\r\nhost: ${new URL(relay.url).host}\r\n\r\n`;
  const got = await writeThenRead([submit, ...json(900_000)], hidden.repeat(Math.ceil(900_000 / hidden.length)));
  expect(got.match(/HTTP\/1.1/g)).toHaveLength(1);
});

it.each([
  ["no body at all", []],
  ["a body in pieces", ["transfer-encoding: chunked"]],
])("an answer is whole also where what follows is no HTTP: %s", async (_name, more) => {
  relay = await TestRelay.start();
  const twice = ["content-type: application/json", "content-type: application/json"];
  for (let time = 0; time < repeats; time += 1) {
    const got = await writeThenRead([submit, ...twice, ...more], "{}");
    expect(got).toMatch(/^HTTP\/1.1 400 /);
    expect(JSON.parse(got.split("\r\n\r\n")[1] ?? "")).toMatchObject({ status: 400 });
  }
});

const cut_limits = [
  ["goes on for ever", { linger_ms: 300, linger_pause_ms: 10_000 }],
  ["falls silent", { linger_ms: 10_000, linger_pause_ms: 300 }],
  ["sends more than is thrown away", { linger_ms: 10_000, linger_pause_ms: 10_000, linger_bytes: 1_000_000 }],
] as const;

it.each(cut_limits)("a caller that %s is cut", async (how, limits) => {
  relay = await TestRelay.start({ limits });
  const { hostname, port, host } = new URL(relay.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  let got = "";
  socket.on("data", (piece) => {
    got += piece.toString("latin1");
  });
  const closed = whenClosed(socket);
  socket.write(`${[submit, `host: ${host}`, ...json(900_000_000)].join("\r\n")}\r\n\r\n`);
  const goes_on = how === "falls silent" ? 0 : how === "goes on for ever" ? 100 : 1;
  while (goes_on > 0 && !socket.destroyed) {
    socket.write(chunk);
    await setTimeout(goes_on);
  }
  await closed;
  expect(got).toMatch(/^HTTP\/1.1 401 /);
});
