import { afterEach, describe, expect, it } from "vitest";
import { MemoryRelay, type MemorySocket } from "./testing/memory-relay.ts";

let relay: MemoryRelay;
afterEach(() => relay.stop());

const submitted = async (peer: MemorySocket, body: object) => {
  peer.say({ calls: [{ n: 900, op: "submit", body }] });
  await relay.time.rest();
  return peer.answer(900).id;
};
const stateOf = async (peer: MemorySocket, id: string) => {
  peer.say({ calls: [{ n: 901, op: "get", params: { id } }] });
  await relay.time.rest();
  return peer.answer(901);
};

describe("what one connection may take of the relay's memory", () => {
  it("is bounded for what it sends: reading pauses while too much is in flight, and goes on after", async () => {
    relay = await MemoryRelay.start({ ws_in_flight_bytes: 2_000_000 });
    const peer = await relay.greet("flooding");
    const text = "x".repeat(900_000);
    for (let n = 1; n <= 3; n += 1) {
      peer.say({ calls: [{ n, op: "submit", body: { capability: "work", text }, wait_ms: 60_000 }] });
    }
    await relay.time.rest();
    expect(peer.isPaused).toBe(true);
    peer.say({ abandon: [1, 2] });
    await relay.time.rest();
    expect(peer.isPaused).toBe(false);
    expect(peer.ended).toBeNull();
    peer.say({ abandon: [3] });
  });

  it("is bounded for what it asks for: pages are made a few at a time, as fast as they are taken", async () => {
    relay = await MemoryRelay.start({ pages_per_caller: 2 });
    const peer = await relay.greet("asking");
    for (let count = 0; count < 3; count += 1) await submitted(peer, { capability: "work", text: "x".repeat(500_000) });
    peer.holds = true;
    const query = { payloads: "inline" };
    peer.say({ calls: Array.from({ length: 50 }, (_, index) => ({ n: index + 1, op: "log", query })) });
    await relay.time.rest();
    const answered = () => peer.sent.flatMap(({ replies = [] }) => replies).filter(({ n }) => n <= 50).length;
    expect(answered()).toBeLessThanOrEqual(4);
    // It is no fault to ask for much: all of it comes, at the pace of its reader.
    for (let turn = 0; turn < 200 && answered() < 50; turn += 1) {
      peer.release();
      await relay.time.rest();
    }
    expect(answered()).toBe(50);
  });

  it("is bounded for what it does not take, which is no reason to cut it: the rest is made as it takes it", async () => {
    relay = await MemoryRelay.start();
    const peer = await relay.greet("eager");
    const id = await submitted(peer, { capability: "work", text: "x".repeat(900_000) });
    peer.holds = true;
    const get = { op: "get", params: { id }, query: { input: true } };
    peer.say({ calls: Array.from({ length: 200 }, (_, index) => ({ n: index + 1, ...get })) });
    await relay.time.rest();
    const answered = () => peer.sent.flatMap(({ replies = [] }) => replies).filter(({ n }) => n <= 200).length;
    expect(answered()).toBeLessThan(10);
    for (let turn = 0; turn < 400 && answered() < 200; turn += 1) {
      peer.release();
      await relay.time.rest();
    }
    expect(answered()).toBe(200);
    expect(peer.ended).toBeNull();
  });

  it("is bounded for waits that are over all at once", async () => {
    relay = await MemoryRelay.start();
    const peer = await relay.greet("patient");
    const worker = await relay.greet("busy");
    const id = await submitted(peer, { to: "busy", text: "x".repeat(900_000) });
    peer.holds = true;
    const get = { op: "get", params: { id }, query: { input: true }, wait_ms: 60_000 };
    peer.say({ calls: Array.from({ length: 50 }, (_, index) => ({ n: index + 1, ...get })) });
    worker.say({ calls: [{ n: 1, op: "claim", body: { worker: "w" } }] });
    await relay.time.rest();
    const fence = worker.answer(1).leases[0]?.fence;
    worker.say({ calls: [{ n: 2, op: "ack", params: { id }, body: { fence } }] });
    await relay.time.rest();
    worker.say({ calls: [{ n: 3, op: "complete", params: { id }, body: { fence, output: 1 } }] });
    await relay.time.rest();
    const answered = () => peer.sent.flatMap(({ replies = [] }) => replies).filter(({ n }) => n <= 50).length;
    expect(answered()).toBeGreaterThan(0);
    expect(answered()).toBeLessThan(10);
    for (let turn = 0; turn < 100 && answered() < 50; turn += 1) {
      peer.release();
      await relay.time.rest();
    }
    expect(answered()).toBe(50);
  });

  it("is cut when it takes nothing at all", async () => {
    relay = await MemoryRelay.start();
    const peer = await relay.greet("gone");
    const id = await submitted(peer, { capability: "work", text: "x".repeat(900_000) });
    peer.holds = true;
    const get = { op: "get", params: { id }, query: { input: true } };
    peer.say({ calls: Array.from({ length: 20 }, (_, index) => ({ n: index + 1, ...get })) });
    await relay.time.advance(16_000);
    expect(peer.ended).toEqual({ code: 4430, reason: "slow_reader" });
  });

  it("is bounded for all connections of an agent together, and the others are still answered", async () => {
    relay = await MemoryRelay.start({ output_bytes_per_caller: 2_000_000 });
    const first = await relay.greet("hoarding");
    const id = await submitted(first, { capability: "work", text: "x".repeat(900_000) });
    const credential = await relay.token("hoarding");
    const peers = [first];
    for (let count = 0; count < 20; count += 1) {
      const socket = relay.connect();
      socket.say({ hello: { credential } });
      peers.push(socket);
    }
    await relay.time.rest();
    const get = { op: "get", params: { id }, query: { input: true } };
    for (const peer of peers) peer.holds = true;
    for (const peer of peers) peer.say({ calls: Array.from({ length: 5 }, (_, index) => ({ n: index + 1, ...get })) });
    await relay.time.rest();
    expect(peers.reduce((bytes, { bufferedAmount }) => bytes + bufferedAmount, 0)).toBeLessThan(6_000_000);
    const other = await relay.greet("honest");
    const own = await submitted(other, { capability: "work", text: "y".repeat(900_000) });
    other.say({ calls: [{ n: 1, op: "get", params: { id: own }, query: { input: true } }] });
    await relay.time.rest();
    expect(other.reply(1)).toMatchObject({ status: 200 });
  });

  it("does not grow by a stream that is not read", async () => {
    relay = await MemoryRelay.start({ ws_buffered_bytes: 2_000 });
    const peer = await relay.greet("dozing");
    const id = await submitted(peer, { capability: "work", input: 1 });
    peer.holds = true;
    peer.say({ calls: [{ n: 1, op: "read_chunks", params: { id }, stream: true }] });
    const worker = await relay.greet("writer");
    worker.say({ calls: [{ n: 1, op: "claim", body: { worker: "w" } }] });
    await relay.time.rest();
    const fence = worker.answer(1).leases[0]?.fence;
    const text = "y".repeat(1_000);
    for (let count = 0; count < 50; count += 1) {
      const body = { fence, offset: count * 1_000, text };
      worker.say({ calls: [{ n: 10 + count, op: "write_chunk", params: { id }, body }] });
      await relay.time.rest();
    }
    const events = peer.sent.flatMap(({ events: some = [] }) => some);
    expect(events.length).toBeLessThan(5);
    peer.release();
    peer.holds = false;
    await relay.time.rest();
    const all = peer.sent.flatMap(({ events: some = [] }) => some);
    expect(all.map(({ data }) => data.text).join("")).toHaveLength(50_000);
  });
});

describe("a lease", () => {
  const claimed = async () => {
    relay = await MemoryRelay.start();
    const sender = await relay.greet("sender");
    const worker = await relay.greet("worker");
    worker.holds = true;
    const id = await submitted(sender, { to: "worker", input: 1 });
    worker.say({ calls: [{ n: 1, op: "claim", body: { worker: "w" } }] });
    await relay.time.rest();
    expect(worker.answer(1).leases[0]?.id).toBe(id);
    return { sender, worker, id };
  };

  it("that never left the relay is given back when the connection breaks, and counts as nothing", async () => {
    const { sender, worker, id } = await claimed();
    worker.break();
    await relay.time.rest();
    expect(await stateOf(sender, id)).toMatchObject({ state: "queued", attempts: 0 });
  });

  it("that left it stays the worker's until its ack clock runs out", async () => {
    const { sender, worker, id } = await claimed();
    worker.release();
    worker.break();
    await relay.time.rest();
    expect(await stateOf(sender, id)).toMatchObject({ state: "delivered" });
    await relay.time.advance(11_000);
    sender.say({ calls: [{ n: 902, op: "get", params: { id } }] });
    await relay.time.rest();
    expect(sender.answer(902).state).toBe("queued");
  });

  it("of an abandoned claim is given back", async () => {
    relay = await MemoryRelay.start();
    const sender = await relay.greet("sender");
    const worker = await relay.greet("worker");
    const id = await submitted(sender, { to: "worker", input: 1 });
    worker.say({ calls: [{ n: 1, op: "claim", body: { worker: "w" }, wait_ms: 1_000 }] });
    worker.say({ abandon: [1] });
    await relay.time.rest();
    expect(worker.reply(1)).toBeUndefined();
    expect(await stateOf(sender, id)).toMatchObject({ state: "queued" });
  });
});
