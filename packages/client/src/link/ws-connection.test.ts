/** One connection over a socket that the test rules, and a clock that it moves. */

import { describe, expect, test } from "vitest";
import { VirtualClock } from "../testing/virtual-clock.ts";
import type { Hello, RelayFrame } from "./relay-frame.ts";
import type { WebSocketLike } from "./web-socket.ts";
import { type ConnectionEnd, WsConnection } from "./ws-connection.ts";

type Handler = ((event: never) => unknown) | null;

class RuledSocket implements WebSocketLike {
  readonly readyState = 1;
  readonly bufferedAmount = 0;
  onopen: Handler = null;
  onmessage: Handler = null;
  onclose: Handler = null;
  onerror: Handler = null;
  readonly sent: unknown[] = [];
  closed = false;

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.closed = true;
  }

  says(data: unknown): void {
    this.onmessage?.({ data: typeof data === "string" ? data : JSON.stringify(data) } as never);
  }
}

const hello: Hello = {
  agent: "ann",
  expires_in_ms: null,
  limits: { frame_bytes: 1, frame_calls: 1, calls_in_flight: 1 },
};

function connect() {
  const clock = new VirtualClock(0);
  const socket = new RuledSocket();
  const frames: RelayFrame[] = [];
  const ends: ConnectionEnd[] = [];
  const asked: string[] = [];
  const held: boolean[] = [];
  const dropped: number[] = [];
  const open = (url: string, protocols: string[]) => {
    asked.push(url, ...protocols);
    return { socket, hold: (yes: boolean) => held.push(yes), drop: () => dropped.push(clock.now()) };
  };
  const surroundings = {
    now: () => clock.now(),
    after: (ms: number, run: () => void) => clock.after(ms, run),
    random: () => 0,
    randomBytes: (count: number) => new Uint8Array(count),
  };
  const connection = new WsConnection("https://relay.example", open, async () => "credential", surroundings, {
    opened: () => {},
    frame: (frame) => frames.push(frame),
    ended: (end) => ends.push(end),
  });
  const pass = (ms: number) => {
    const until = clock.now() + ms;
    while (clock.fireNext(until));
    clock.moveTo(until);
  };
  /** Time goes by, and nothing runs. */
  const sleep = (ms: number) => clock.moveTo(clock.now() + ms);
  return { connection, socket, frames, ends, asked, held, dropped, pass, sleep };
}

async function greeted() {
  const all = connect();
  all.socket.onopen?.({} as never);
  await Promise.resolve();
  await Promise.resolve();
  all.socket.says({ hello });
  return all;
}

describe("a connection", () => {
  test("asks for the protocol and says who it is, and nothing before that", async () => {
    const { asked, socket, connection } = connect();
    expect(asked).toEqual(["wss://relay.example/v1/connect", "handfast.v1"]);
    socket.onopen?.({} as never);
    await Promise.resolve();
    await Promise.resolve();
    expect(socket.sent).toEqual([{ hello: { credential: "credential" } }]);
    expect(connection.hello).toBeNull();
    socket.says({ hello });
    expect(connection.hello).toEqual(hello);
  });

  test("whose relay says no hello is given up", () => {
    const { ends, pass, socket } = connect();
    pass(10_000);
    expect(ends).toMatchObject([{ why: "no hello came from the relay" }]);
    expect(socket.closed).toBe(true);
  });

  test("asks a relay that is silent, and stays when it answers", async () => {
    const { socket, ends, pass } = await greeted();
    pass(15_000);
    expect(socket.sent.at(-1)).toEqual({ ping: 1 });
    socket.says({ pong: 1 });
    pass(19_000);
    expect(ends).toEqual([]);
  });

  test("is over well within a lease of 30 seconds when the relay answers nothing any more", async () => {
    const { ends, pass } = await greeted();
    pass(20_000);
    expect(ends).toMatchObject([{ code: 1006, why: "the relay went silent", silent_since: 0 }]);
  });

  test("that is over keeps no process, and a peer that is gone is not asked to agree", async () => {
    const { held, dropped, pass } = await greeted();
    pass(20_000);
    expect(held).toEqual([false]);
    expect(dropped).toHaveLength(1);
  });

  test("that the client ends keeps no process, and is dropped when the peer does not take leave", async () => {
    const { connection, held, dropped, pass } = await greeted();
    connection.end("the client was closed");
    expect(held).toEqual([false]);
    expect(dropped).toHaveLength(0);
    pass(3_000);
    expect(dropped).toHaveLength(1);
  });

  test("of a process that slept hears what came meanwhile before it calls the relay silent", async () => {
    const { ends, pass, sleep, socket } = await greeted();
    pass(15_000);
    sleep(3_600_000);
    pass(1_000);
    socket.says({ pong: 1 });
    expect(ends).toEqual([]);
  });

  test.each([
    "garbage",
    "[]x",
    "[]",
    "null",
    "7",
    '{"replies":5}',
    '{"replies":[null]}',
    '{"replies":[{"status":200}]}',
    '{"events":[{}]}',
    '{"events":[null]}',
    '{"over":[null]}',
    '{"over":[{"id":1}]}',
    '{"problem":{"code":"x"}}',
  ])("is over when the relay sends %s", async (text) => {
    const { ends, socket, frames } = await greeted();
    socket.says(text);
    expect(ends).toMatchObject([{ is_fault: true }]);
    expect(frames).toEqual([]);
  });

  test.each([
    '{"hello":null}',
    '{"hello":{}}',
    '{"hello":{"agent":"ann","expires_in_ms":null,"limits":null}}',
    '{"hello":{"agent":"ann","expires_in_ms":null,"limits":{"frame_bytes":1,"frame_calls":0,"calls_in_flight":1}}}',
  ])("is over when the relay says hello with %s", (text) => {
    const { ends, socket, connection } = connect();
    socket.says(text);
    expect(ends).toMatchObject([{ is_fault: true }]);
    expect(connection.hello).toBeNull();
  });

  test("ends once, with the relay's own words where it had any", async () => {
    const { ends, socket, connection } = await greeted();
    const problem = { code: 401, reason: "revoked_key", detail: "It was revoked." };
    socket.says({ problem });
    socket.onclose?.({ code: 4401, reason: "identity" } as never);
    socket.onclose?.({ code: 1006, reason: "" } as never);
    connection.end("again");
    expect(ends).toMatchObject([{ code: 4401, why: "identity", problem }]);
  });
});
