/** The line over sockets that the test rules, and a clock that it moves. */

import { afterEach, expect, test } from "vitest";
import { nodeCrypto } from "../identity/node-crypto.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { RuledSocket } from "./testing/ruled-socket.ts";
import type { WsCall } from "./ws-call.ts";
import { WsLine } from "./ws-line.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const lines: WsLine[] = [];
afterEach(() => {
  for (const line of lines.splice(0)) line.close();
});

function makeLine(sign: () => Promise<Uint8Array> = async () => new Uint8Array(64)) {
  const clock = new VirtualClock(0);
  const sockets: RuledSocket[] = [];
  const line = new WsLine({
    url: "http://relay.example",
    open: () => {
      const socket = new RuledSocket();
      sockets.push(socket);
      return { socket, hold: () => {}, drop: () => {} };
    },
    identity: {
      signer: { key: "key", sign },
      authorization: async () => "credential",
      readmit: async () => {},
    } as never,
    crypto: nodeCrypto,
    surroundings: {
      now: () => clock.now(),
      after: (ms, run) => clock.after(ms, run),
      random: () => 0,
      randomBytes: (count) => new Uint8Array(count),
    },
    onOver: () => {},
    onConnection: () => {},
    onFault: () => {},
  });
  lines.push(line);
  const told: (number | string)[] = [];
  const add = (more: Partial<WsCall> = {}) => {
    const n = line.nextNumber();
    const call: WsCall = {
      n,
      is_vital: false,
      is_act: true,
      is_bound: false,
      text: () => '"op":"get"}',
      bytes: 100,
      keys: 1,
      handoff: null,
      documents: [],
      began_at: clock.now(),
      patience_ms: 30_000,
      reply: () => told.push(n),
      event: () => {},
      reject: (error) => told.push(`${n}: ${error instanceof Error ? error.name : error}`),
      ...more,
    };
    line.add(call);
    return n;
  };
  /** Timers go off, and what they set off is done, until so much time is over. */
  const pass = async (ms: number) => {
    const until = clock.now() + ms;
    await turn();
    while (clock.fireNext(until)) await turn();
    clock.moveTo(until);
    await turn();
  };
  const current = () => {
    const socket = sockets.at(-1);
    if (socket === undefined) throw new Error("nothing was opened");
    return socket;
  };
  return { line, sockets, current, told, add, pass };
}

test("the connection is replaced while a signature is made: what was to be signed goes over the new one", async () => {
  const signed = Promise.withResolvers<Uint8Array>();
  const { add, pass, current, sockets } = makeLine(() => signed.promise);
  const n = add({ documents: [{ typ: "handoff" as never, document: "{}" }] });
  current().greets();
  await turn();
  current().breaks();
  await pass(1_000);
  current().greets();
  await turn();
  signed.resolve(new Uint8Array(64));
  await turn();
  await turn();
  expect(sockets.map(({ numbers }) => numbers)).toEqual([[], [n]]);
});

test("a connection falls silent: a wait outlives it, and counts its patience from the last sign of life", async () => {
  const { add, pass, current, sockets, told } = makeLine();
  const wait = add({ is_act: false });
  current().greets();
  await pass(20_100);
  expect(sockets).toHaveLength(2);
  expect(told).toEqual([]);
  await pass(8_900);
  expect(told).toEqual([]);
  await pass(2_000);
  expect(told).toEqual([`${wait}: RelayUnreachable`]);
});

test("a relay says hello again and again, and nothing else: patience is over all the same", async () => {
  const { add, pass, current, told, sockets } = makeLine();
  const n = add({ patience_ms: 10_000 });
  for (let second = 0; second < 12 && told.length === 0; second++) {
    const count = sockets.length;
    current().greets();
    await turn();
    current().breaks();
    while (sockets.length === count && told.length === 0) await pass(1_000);
  }
  expect(told).toEqual([`${n}: RelayUnreachable`]);
});

test("the relay ends the connection for a frame: nothing fails that was not sent, and only one that it refuses alone", async () => {
  const { add, pass, current, told } = makeLine();
  const [bad, good] = [add(), add()];
  current().greets();
  await turn();
  const unsent = add();
  current().breaks(4400);
  await pass(1_000);
  current().greets();
  await turn();
  expect(current().numbers).toEqual([bad]);
  current().breaks(4400);
  expect(told).toEqual([`${bad}: malformed`]);
  await pass(1_000);
  const again = current();
  again.greets();
  await turn();
  expect(again.numbers).toEqual([good]);
  again.says({ pong: again.sent.at(-1)?.ping });
  await turn();
  expect(again.numbers).toEqual([good, unsent]);
});
