/** WebSockets that are opened wrongly, or spoken to before anybody was greeted. */

import { deflateRawSync } from "node:zlib";
import type { Random } from "../chance.ts";
import { closeFault, faultOf, frameFault } from "../judge/answers.ts";
import { count } from "../judge/tally.ts";
import { credentialMutations } from "../mutate/credential-mutations.ts";
import { encodeFrame, opcode } from "../wire/ws-frames.ts";
import { WsWire } from "../wire/ws-wire.ts";
import { upgradeRequest } from "./lines.ts";
import { someAddress } from "./stage.ts";
import type { Input, Step } from "./step.ts";

type Change = readonly [name: string, change: (request: string, random: Random) => string];

const openings: readonly Change[] = [
  ["no key", (request) => request.replace(/sec-websocket-key: [^\r]*\r\n/, "")],
  [
    "a key that is none",
    (request, random) =>
      request.replace(/(sec-websocket-key: )[^\r]*/, `$1${random.pick(["", "x", "AAAA", "A".repeat(200)])}`),
  ],
  [
    "another version",
    (request, random) => request.replace("version: 13", `version: ${random.pick(["12", "8", "", "999", "x"])}`),
  ],
  ["no subprotocol", (request) => request.replace(/sec-websocket-protocol: [^\r]*\r\n/, "")],
  [
    "another subprotocol",
    (request, random) =>
      request.replace(
        "handfast.v1",
        random.pick(["handfast.v2", "", ",", "handfast.v1,", "a, handfast.v1", "\u00e9", "x".repeat(3_000)]),
      ),
  ],
  [
    "compression",
    (request, random) =>
      request.replace(
        "\r\n\r\n",
        `\r\nsec-websocket-extensions: ${random.pick(["permessage-deflate", "permessage-deflate; client_max_window_bits=99", "permessage-deflate; server_no_context_takeover=1, x", ";", "permessage-deflate; ".repeat(100), 'a;b="'])}\r\n\r\n`,
      ),
  ],
  ["another method", (request) => request.replace("GET", "POST")],
  ["a foreign origin", (request) => request.replace("\r\n\r\n", "\r\norigin: http://example.com\r\n\r\n")],
  ["a foreign host", (request) => request.replace(/host: [^\r]*/, "host: example.com")],
  ["a query", (request) => request.replace("/v1/connect", "/v1/connect?token=x&a[]=1")],
  ["a body", (request) => request.replace("\r\n\r\n", "\r\ncontent-length: 5\r\n\r\nhello")],
  ["connection without upgrade", (request) => request.replace("connection: Upgrade", "connection: keep-alive")],
  ["upgrade in another spelling", (request) => request.replace("upgrade: websocket", "upgrade: WebSocket, h2c")],
];

const text = (said: string | Buffer) => encodeFrame(Buffer.from(said), { opcode: opcode.text });

/** What is said on a connection before anybody was greeted. */
const firstWords: readonly (readonly [name: string, words: (random: Random, credential: string) => Buffer])[] = [
  ["calls before hello", () => text('{"calls":[{"n":1,"op":"healthz"}]}')],
  ["a ping before hello", () => text('{"ping":1}')],
  [
    "hello without a credential",
    (random) =>
      text(
        random.pick([
          '{"hello":{}}',
          '{"hello":null}',
          '{"hello":[]}',
          '{"hello":{"credential":1}}',
          '{"hello":{"credential":"x","a":1}}',
        ]),
      ),
  ],
  [
    "hello with a credential that proves nothing",
    (_random, credential) => text(JSON.stringify({ hello: { credential } })),
  ],
  [
    "hello twice",
    (_random, credential) =>
      Buffer.concat([text(JSON.stringify({ hello: { credential } })), text(JSON.stringify({ hello: { credential } }))]),
  ],
  [
    "many calls behind the hello",
    (_random, credential) => {
      const calls = Array.from({ length: 200 }, (_, at) => ({ n: at + 1, op: "healthz" }));
      return text(JSON.stringify({ hello: { credential }, calls }));
    },
  ],
  [
    "more than a stranger may say",
    (random) => text(`{"hello":{"credential":"${"x".repeat(random.pick([3_000, 1_100_000]))}"}}`),
  ],
  ["a binary hello", () => encodeFrame(Buffer.from('{"hello":{"credential":"x"}}'), { opcode: opcode.binary })],
  [
    "a compressed hello",
    () => encodeFrame(deflateRawSync('{"hello":{"credential":"x"}}'), { opcode: opcode.text, reserved: 4 }),
  ],
  ["not JSON", (random) => text(random.pick(["", "x", "null", "[]", "{", '"a"', "\u0000", "[".repeat(100_000)]))],
  ["random text", (random) => text(Buffer.from(random.bytes(random.skewed(1, 2_000))))],
  ["random bytes", (random) => Buffer.from(random.bytes(random.skewed(2, 2_000)))],
  ["a close at once", () => encodeFrame(Buffer.alloc(0), { opcode: opcode.close })],
  ["nothing", () => Buffer.alloc(0)],
];

export const rawFrames: Input = async (step) => {
  const { stage, random } = step;
  const is_opening = random.chance(0.35);
  const sound = upgradeRequest(stage.port);
  const [opening, change] = random.pick(openings);
  const [said, words] = random.pick(firstWords);
  const request = is_opening ? Buffer.from(change(sound.toString("latin1"), random), "latin1") : sound;
  const name = is_opening ? `opening: ${opening}` : `first words: ${said}`;
  count(stage.tally.mutations, name);
  const first = words(random, await someCredential(step));
  stage.tally.bytes += request.length + first.length;
  const { wire, reply } = await WsWire.open(stage.port, request, someAddress(stage, random));
  let fault: string | null = null;
  if (reply !== null && reply.status !== 101) {
    const body: unknown = reply.body.length === 0 ? null : parsed(reply.body);
    stage.tally.answered(null, reply.status, Object(body).reason);
    const is_problem = reply.headers.get("content-type")?.startsWith("application/problem+json") === true;
    // Of a handshake that is none, the WebSocket library says in a word of its own what is missing.
    fault = is_problem || reply.status >= 500 ? faultOf(null, { status: reply.status, body, is_problem }) : null;
  } else if (reply !== null) {
    wire.write(first);
    fault = await hear(step, wire);
  } else if (!wire.isOver) {
    fault = "a request to upgrade was neither answered nor refused";
  }
  wire.drop();
  return { fault, mutations: 0, done: [name], persona: "nobody", bytes: Buffer.concat([request, first]) };
};

/** Right, wrong, or nearly right. */
async function someCredential({ scene, random }: Step): Promise<string> {
  const { sender, rival } = scene.troupe;
  const persona = random.pick([sender, rival]);
  if (random.chance(0.3)) return (await persona.credential()) ?? "";
  const mutation = random.pick(credentialMutations);
  return (await mutation.apply(persona.credential, { random, scene, persona })()) ?? "";
}

/** It speaks, and then says that it is done: whatever the relay makes of it, the connection must end. */
async function hear({ stage }: Step, wire: WsWire): Promise<string | null> {
  wire.write(encodeFrame(Buffer.from([0x03, 0xe8]), { opcode: opcode.close }));
  wire.end();
  let fault: string | null = null;
  const take = () => {
    for (const frame of wire.frames.splice(0)) fault ??= frameFault(frame);
    return wire.isOver;
  };
  const is_over = await wire.until(take, stage.answer_within_ms);
  count(stage.tally.closes, `${wire.closing?.code ?? "cut"}`);
  if (!is_over) return `a connection was neither closed nor cut within ${stage.answer_within_ms} ms`;
  const code = wire.closing?.code ?? null;
  return fault ?? wire.garbled ?? (code === null ? null : closeFault(code));
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return bytes.toString("utf8");
  }
}
