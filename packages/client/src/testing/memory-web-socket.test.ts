import type { FrameListener, FrameSocket } from "@handfast/relay/in-process";
import { beforeEach, expect, test } from "vitest";
import { MemoryWebSocket } from "./memory-web-socket.ts";
import { Network, NetworkEnd } from "./network.ts";
import { Stir } from "./settle.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** What each side saw, in one list, as it happened. */
let seen: string[];
let network: Network;
let clock: VirtualClock;
let end: NetworkEnd;
let relaySide: FrameSocket | null;

beforeEach(() => {
  seen = [];
  relaySide = null;
  clock = new VirtualClock(0);
  network = new Network(clock, new Stir(), { isBusy: () => false });
  end = new NetworkEnd(network);
});

const listener: FrameListener = {
  frame: (data, isBinary) => seen.push(`relay got ${isBinary ? "binary" : new TextDecoder().decode(data)}`),
  pong: () => seen.push("relay got pong"),
  drained: () => seen.push("relay drained"),
  closed: (code) => seen.push(`relay closed ${code}`),
};

function accept(socket: FrameSocket): boolean {
  relaySide = socket;
  socket.listen(listener);
  return true;
}

function dial(answer: (socket: FrameSocket) => boolean = accept): MemoryWebSocket {
  const socket = new MemoryWebSocket(end, answer, "ws://relay.test/v1/connect", "handfast.v1");
  socket.onopen = () => seen.push(`client opened ${socket.protocol}`);
  socket.onmessage = (event: MessageEvent) => seen.push(`client got ${event.data}`);
  socket.onclose = (event: { code: number; reason: string; wasClean: boolean }) =>
    seen.push(`client closed ${event.code} ${event.wasClean ? event.reason : "broken"}`);
  return socket;
}

async function connected(): Promise<{ client: MemoryWebSocket; relay: FrameSocket }> {
  const client = dial();
  await network.settle();
  if (relaySide === null) throw new Error("not accepted");
  seen.length = 0;
  return { client, relay: relaySide };
}

test("it opens later, with the protocol that was asked for", async () => {
  const client = dial();
  expect(client.readyState).toBe(MemoryWebSocket.CONNECTING);
  expect(() => client.send("too early")).toThrow("not open yet");
  await network.settle();
  expect(seen).toEqual(["client opened handfast.v1"]);
  expect(client.readyState).toBe(MemoryWebSocket.OPEN);
});

test("frames arrive later and in order, both ways", async () => {
  const { client, relay } = await connected();
  client.send("1");
  client.send("2");
  relay.send("a");
  relay.send("b");
  expect(seen).toEqual([]);
  await network.settle();
  expect(seen).toEqual(["relay got 1", "relay got 2", "client got a", "client got b", "relay drained"]);
});

test("bytes count as unsent until they have arrived", async () => {
  const { client, relay } = await connected();
  client.send("1234");
  relay.send("12");
  expect([client.bufferedAmount, relay.bufferedAmount]).toEqual([4, 2]);
  await network.settle();
  expect([client.bufferedAmount, relay.bufferedAmount]).toEqual([0, 0]);
});

test("a relay that pauses gets what came meanwhile when it resumes", async () => {
  const { client, relay } = await connected();
  relay.pause();
  client.send("1");
  client.send("2");
  await network.settle();
  expect(seen).toEqual([]);
  expect(client.bufferedAmount).toBe(2);
  relay.resume();
  await network.settle();
  expect(seen).toEqual(["relay got 1", "relay got 2"]);
});

test("a binary frame is handed over as one", async () => {
  const { client } = await connected();
  client.send(new Uint8Array([1, 2]));
  await network.settle();
  expect(seen).toEqual(["relay got binary"]);
});

test("a ping is answered without the client", async () => {
  const { relay } = await connected();
  relay.ping();
  await network.settle();
  expect(seen).toEqual(["relay got pong"]);
});

test("a close comes after the frames before it, with code and reason", async () => {
  const { client, relay } = await connected();
  relay.send("last words");
  relay.close(1001, "stopping");
  await network.settle();
  expect(seen).toEqual(["client got last words", "relay drained", "client closed 1001 stopping", "relay closed 1001"]);
  expect(client.readyState).toBe(MemoryWebSocket.CLOSED);
  client.send("too late");
  await network.settle();
  expect(seen).toHaveLength(4);
});

test("a client closes in order, too", async () => {
  const { client } = await connected();
  client.send("last words");
  client.close(1000, "done");
  await network.settle();
  expect(seen).toEqual(["relay got last words", "relay closed 1000", "client closed 1000 done"]);
});

test("a cut tells both sides, and frames on the way are lost", async () => {
  const { client, relay } = await connected();
  end.delay_ms = 10;
  client.send("lost");
  relay.send("lost");
  end.cut();
  await network.settle();
  while (clock.fireNext(1_000)) await network.settle();
  expect(seen).toEqual(["relay closed 1006", "client closed 1006 broken"]);
});

test("nothing opens while the network is cut, and it does after", async () => {
  end.cut();
  dial();
  await network.settle();
  expect(seen).toEqual(["client closed 1006 broken"]);
  end.restore();
  dial();
  await network.settle();
  expect(seen.at(-1)).toBe("client opened handfast.v1");
});

test("nothing opens where no relay listens", async () => {
  dial(() => false);
  await network.settle();
  expect(seen.at(-1)).toBe("client closed 1006 broken");
});

test("in silence nothing arrives and nobody is told; after it, everything does", async () => {
  const { client, relay } = await connected();
  end.silence();
  client.send("1");
  relay.send("a");
  relay.ping();
  await network.settle();
  expect(seen).toEqual([]);
  expect(relay.bufferedAmount).toBe(1);
  end.restore();
  await network.settle();
  expect(seen).toEqual(["relay got 1", "client got a", "relay drained", "relay got pong"]);
});

test("a client that gives up in silence is free; the relay still knows nothing", async () => {
  const { client } = await connected();
  end.silence();
  client.close();
  await network.settle();
  expect(seen).toEqual(["client closed 1006 broken"]);
});

test("a delay holds frames for so much virtual time, and never changes their order", async () => {
  const { client } = await connected();
  end.delay_ms = 50;
  client.send("slow");
  end.delay_ms = 0;
  client.send("fast");
  await network.settle();
  expect(seen).toEqual([]);
  clock.fireNext(50);
  await network.settle();
  clock.fireNext(50);
  await network.settle();
  expect(seen).toEqual(["relay got slow", "relay got fast"]);
});

test("of a process that is gone only the relay learns", async () => {
  await connected();
  end.leave();
  await network.settle();
  expect(seen).toEqual(["relay closed 1006"]);
  end.restore();
  dial();
  await network.settle();
  expect(seen.filter((line) => line.startsWith("client"))).toEqual(["client closed 1006 broken"]);
});

test("what a client says while it is held arrives when the relay is ready for it", async () => {
  const { client } = await connected();
  const { promise, resolve } = Promise.withResolvers<void>();
  end.holdUntil(promise);
  client.send("1");
  await network.settle();
  expect(seen).toEqual([]);
  resolve();
  await network.settle();
  expect(seen).toEqual(["relay got 1"]);
});

test("listeners may be added and taken off as with any WebSocket", async () => {
  const { client, relay } = await connected();
  const got: unknown[] = [];
  const listen = (event: Event) => got.push((event as MessageEvent).data);
  client.addEventListener("message", listen);
  client.onmessage = null;
  relay.send("a");
  await network.settle();
  client.removeEventListener("message", listen);
  relay.send("b");
  await network.settle();
  expect(got).toEqual(["a"]);
  expect(seen).toEqual(["relay drained", "relay drained"]);
});
