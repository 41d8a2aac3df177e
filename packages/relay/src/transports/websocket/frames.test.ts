import { createHash } from "node:crypto";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { operations } from "../../operations/table.ts";
import { operator_token, type TestAgent, TestRelay } from "../../testing/test-relay.ts";
import { TestPeer } from "./testing/test-peer.ts";

let relay: TestRelay;
let agent: TestAgent;
let peer: TestPeer;
beforeAll(async () => {
  relay = await TestRelay.start({ limits: { ws_calls_in_flight: 1_500 } });
  agent = await relay.agent("framing", "work");
});
afterAll(() => relay.stop());
afterEach(() => peer.break());

const greet = async () => {
  peer = await TestPeer.greet(relay, agent.token);
};
const problem = async () => {
  const ended = await peer.ended;
  return { ...ended, problem: peer.problems.at(-1)?.reason };
};

describe("a frame that is no frame ends the connection, with its reason", () => {
  it.each([
    ["garbage", "}{", "syntax"],
    ["a list", "[]", "not_an_object"],
    ["nothing at all", "{}", "empty_frame"],
    ["a key twice", '{"ping":1,"ping":2}', "duplicate_key"],
    ["a number that loses digits", '{"ping":12345678901234567890}', "number_out_of_range"],
    ["an unknown member", '{"calls":[],"colour":1}', "unknown_member"],
    ["an unknown member of a call", '{"calls":[{"n":1,"op":"healthz","colour":1}]}', "unknown_member"],
    ["a call without a number", '{"calls":[{"op":"healthz"}]}', "bad_n"],
    ["a call with a number of 0", '{"calls":[{"n":0,"op":"healthz"}]}', "bad_n"],
    ["a call without an operation", '{"calls":[{"n":1}]}', "bad_op"],
    ["calls that are no list", '{"calls":{"n":1}}', "bad_calls"],
    ["a signature without a key", '{"calls":[],"signature":{"sig":"x"}}', "bad_signature_member"],
    ["an abandon that is no list", '{"abandon":1}', "bad_abandon"],
    ["a ping that is no number", '{"ping":"x"}', "bad_ping"],
    ["a second hello", '{"hello":{"credential":"x"}}', "second_hello"],
    ["a number twice", '{"calls":[{"n":1,"op":"healthz"},{"n":1,"op":"healthz"}]}', "n_taken"],
  ])("%s", async (_what, text, reason) => {
    await greet();
    peer.send(text);
    expect(await problem()).toEqual({ code: 4400, reason: "malformed", problem: reason });
  });

  it("bytes that are not UTF-8", async () => {
    await greet();
    peer.socket.send(Buffer.from([0x7b, 0xff, 0x7d]), { binary: false });
    expect(await problem()).toEqual({ code: 4400, reason: "malformed", problem: "not_utf8" });
  });

  it("a binary frame", async () => {
    await greet();
    peer.send(Buffer.from('{"ping":1}'));
    expect(await problem()).toEqual({ code: 4400, reason: "malformed", problem: "binary_frame" });
  });

  it("one of 10,000 operations, of which none is run", async () => {
    await greet();
    const before = (await agent.get("/v1/handoffs")).body.handoffs.length;
    const body = { capability: "work", input: 1 };
    peer.send({ calls: Array.from({ length: 10_000 }, (_, index) => ({ n: index + 1, op: "submit", body })) });
    expect(await problem()).toEqual({ code: 4413, reason: "too_many_calls", problem: "too_many_calls" });
    expect((await agent.get("/v1/handoffs")).body.handoffs.length).toBe(before);
  });

  it("one of 100 MB", async () => {
    await greet();
    peer.send(Buffer.alloc(100_000_000, " ").toString());
    // A peer that is still writing may find the connection broken before it reads the code.
    expect([1009, 1006]).toContain((await peer.ended).code);
    expect((await relay.get("/healthz")).status).toBe(200);
  });

  it("more open calls than are allowed", async () => {
    await greet();
    for (let frame = 0; frame < 2; frame += 1) {
      const calls = Array.from({ length: 1_000 }, () => ({ n: peer.next(), op: "outcomes", wait_ms: 60_000 }));
      peer.send({ calls });
    }
    expect(await problem()).toEqual({ code: 4429, reason: "too_many", problem: "too_many_calls" });
  });
});

describe("calls", () => {
  it("of an unknown operation are answered with 404, and the others run", async () => {
    await greet();
    const [unknown, known] = await peer.calls([{ op: "launch" }, { op: "healthz" }]);
    expect(unknown).toMatchObject({ status: 404, problem: { reason: "unknown_operation" } });
    expect(known).toMatchObject({ status: 200, body: { status: "ok" } });
  });

  it.each([
    ["return of a kind unknown", { op: "outcomes", return: "little" }, "unfit"],
    ["wait_ms that is text", { op: "outcomes", wait_ms: "1" }, "unfit"],
    ["stream that is no boolean", { op: "handoff_events", stream: 1 }, "unfit"],
    ["a stream of what does not stream", { op: "get", params: { id: "x" }, stream: true }, "unfit"],
    ["parameters that it does not have", { op: "healthz", params: { id: "x" } }, "unknown_field"],
    ["a query that it does not have", { op: "outcomes", query: { colour: 1 } }, "unknown_field"],
    ["an idempotency key with a tab", { op: "submit", idempotency_key: "a\tb", body: {} }, "idempotency_key"],
    ["bytes that are no base64", { op: "put_artifact", params: { sha256: "0".repeat(64) }, base64: "%" }, "unfit"],
  ])("with %s are refused alone", async (_what, call, reason) => {
    await greet();
    const [refused, other] = await peer.calls([call, { op: "healthz" }]);
    expect(refused?.status).toBe(400);
    expect(["unfit", "no_stream", reason]).toContain(refused?.problem?.reason);
    expect(other?.status).toBe(200);
  });

  it("of one frame are answered in few frames", async () => {
    await greet();
    const body = { capability: "work", input: 1 };
    const replies = await peer.calls(Array.from({ length: 100 }, () => ({ op: "submit", body })));
    expect(replies.every(({ status }) => status === 202)).toBe(true);
    expect(peer.frames.filter(({ replies }) => replies !== undefined).length).toBeLessThan(10);
  });

  it("are answered with no more than they must where that is preferred", async () => {
    await greet();
    const { body } = await peer.call("submit", { return: "minimal", body: { capability: "work", input: 1 } });
    expect(body).toMatchObject({ digest: expect.any(String), handoff: null });
    const { leases } = (await peer.call("claim", { body: { worker: "w", slots: 256 } })).body;
    const fence = leases.find((lease) => lease.id === body.id)?.fence;
    const params = { id: body.id };
    await peer.call("complete", { params, body: { fence, output: 2 } });
    expect(await peer.call("take", { params, return: "minimal" })).toEqual({ n: expect.any(Number), status: 204 });
  });

  it("take numbers and booleans in a query as such", async () => {
    await greet();
    const id = await agent.submit({ capability: "work", input: 7 });
    expect((await peer.call("get", { params: { id }, query: { input: true } })).body).toMatchObject({ input: 7 });
    expect((await peer.call("list", { query: { limit: 1 } })).body.handoffs).toHaveLength(1);
  });

  it("a ping is answered with its number", async () => {
    await greet();
    peer.send({ ping: 42 });
    expect(await peer.frame(({ pong }) => pong !== undefined)).toEqual({ pong: 42 });
  });

  it("reach every operation of the table, in one frame", async () => {
    peer = await TestPeer.greet(relay, operator_token);
    const { length } = operations;
    const replies = await peer.calls(operations.map(({ name }) => ({ op: name })));
    expect(replies).toHaveLength(length);
    const unreached = replies.filter(({ problem }) => problem?.reason === "unknown_operation");
    expect(unreached).toEqual([]);
  });

  it("carry artifacts both ways, and text as text", async () => {
    await greet();
    const bytes = Buffer.from([0, 1, 2, 255]);
    const params = { sha256: createHash("sha256").update(bytes).digest("hex") };
    const base64 = bytes.toString("base64");
    const put = await peer.call("put_artifact", { params, base64, content_type: "image/png" });
    expect(put).toMatchObject({ status: 201, body: { size: 4, media_type: "image/png" } });
    expect(await peer.call("get_artifact", { params })).toMatchObject({ base64, content_type: "image/png" });
    expect((await peer.call("log")).text).toContain('"cursor"');
    expect((await peer.call("metrics")).text).toMatch(/^handfast_connections [0-9]/m);
  });

  it("whose body is larger than over HTTP are refused alone, in a frame that is not", async () => {
    await greet();
    const large = { op: "submit", body: { capability: "work", text: "x".repeat(2_000_000) } };
    const [refused, other] = await peer.calls([large, { op: "healthz" }]);
    expect(refused).toMatchObject({ status: 413, problem: { reason: "too_large" } });
    expect(other?.status).toBe(200);
  });
});

describe("a reply that does not fit into a frame", () => {
  it("is refused with the advice to use HTTP", async () => {
    const small = await TestRelay.start({ limits: { ws_frame_bytes: 10_000 } });
    try {
      const sender = await small.agent("large", "work");
      for (let count = 0; count < 30; count += 1) await sender.submit({ capability: "work", input: count });
      peer = await TestPeer.greet(small, sender.token);
      expect(await peer.call("log")).toMatchObject({ status: 413, problem: { reason: "use_http" } });
    } finally {
      await peer.break();
      await small.stop();
    }
  });
});

describe("other requests to upgrade", () => {
  it("are answered as if they had not been asked for", async () => {
    await greet();
    const { hostname, port, host } = new URL(relay.url);
    const socket = connect(Number(port), hostname);
    const lines = ["GET /healthz HTTP/1.1", `host: ${host}`, "connection: upgrade, close", "upgrade: h2c", "", ""];
    socket.write(lines.join("\r\n"));
    const answer = await socket.take(1).toArray();
    expect(String(answer[0])).toMatch(/^HTTP\/1.1 200 /);
    socket.destroy();
  });

  it("a plain GET of the address says what it is for", async () => {
    await greet();
    expect((await relay.get("/v1/connect")).body).toMatchObject({ status: 426, reason: "upgrade_required" });
  });
});
