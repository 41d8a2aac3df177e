/** Bytes on a fresh connection that are hardly HTTP, or could be read in two ways. */

import type { Random } from "../chance.ts";
import { faultOf, operationAt } from "../judge/answers.ts";
import { count } from "../judge/tally.ts";
import { HttpWire } from "../wire/http-wire.ts";
import { someAddress } from "./stage.ts";
import type { Input, Step } from "./step.ts";

interface Shape {
  readonly name: string;
  /** `hidden` is a whole request that must never be carried out on its own. */
  readonly bytes: (random: Random, head: readonly string[], hidden: string) => string | Buffer;
  /** Two readers could find different requests in it: nothing of it may be carried out. */
  readonly is_ambiguous?: true;
}

const lines = (...all: readonly string[]) => `${all.join("\r\n")}\r\n`;
const request = (head: readonly string[], headers: readonly string[], body: string) =>
  `${lines("POST /v1/handoffs HTTP/1.1", ...head, ...headers)}\r\n${body}`;

/** The outer body ends at once for whoever believes in chunks, and holds the hidden request for whoever counts. */
const smuggled = (hidden: string) => `0\r\n\r\n${hidden}`;

function ambiguous(name: string, headers: (body: string) => readonly string[]): Shape {
  return {
    name,
    is_ambiguous: true,
    bytes: (_random, head, hidden) => {
      const body = smuggled(hidden);
      return request(head, headers(body), body);
    },
  };
}

const shapes: readonly Shape[] = [
  ambiguous("length and chunks", (body) => [`content-length: ${body.length}`, "transfer-encoding: chunked"]),
  ambiguous("chunks and length", (body) => ["transfer-encoding: chunked", `content-length: ${body.length}`]),
  ambiguous("two lengths", (body) => [`content-length: ${body.length}`, "content-length: 0"]),
  ambiguous("two lengths in one", (body) => [`content-length: ${body.length}, 0`]),
  ambiguous("chunks, twice", (body) => [
    "transfer-encoding: chunked",
    "transfer-encoding: identity",
    `content-length: ${body.length}`,
  ]),
  ambiguous("chunks, misspelled", (body) => ["transfer-encoding: xchunked", `content-length: ${body.length}`]),
  ambiguous("chunks, not last", (body) => ["transfer-encoding: chunked, identity", `content-length: ${body.length}`]),
  ambiguous("chunks, behind a tab", (body) => ["transfer-encoding:\tchunked", `content-length: ${body.length}`]),
  ambiguous("chunks, in a name with a space", (body) => [
    "transfer-encoding : chunked",
    `content-length: ${body.length}`,
  ]),
  ambiguous("chunks, in a folded line", (body) => ["transfer-encoding:", " chunked", `content-length: ${body.length}`]),
  ambiguous("a length with a sign", (body) => [`content-length: +${body.length}`, "transfer-encoding: chunked"]),
  ambiguous("a length behind an empty name", (body) => [
    ": x",
    `content-length: ${body.length}`,
    "transfer-encoding: chunked",
  ]),
  {
    name: "chunk sizes",
    bytes: (random, head) => {
      const size = random.pick([
        "-1",
        "0x5",
        "fffffffffffffffff",
        "5;ext=1",
        "5 ",
        "g",
        "",
        "+5",
        "00000000000000000005",
        "5\n",
      ]);
      return request(head, ["transfer-encoding: chunked"], `${size}\r\nhello\r\n0\r\n\r\n`);
    },
  },
  {
    name: "trailers",
    bytes: (_random, head) =>
      request(
        head,
        ["transfer-encoding: chunked", "trailer: host"],
        "2\r\n{}\r\n0\r\nhost: example.com\r\ncontent-length: 5\r\n\r\n",
      ),
  },
  {
    name: "long chunk extensions",
    bytes: (random, head) =>
      request(head, ["transfer-encoding: chunked"], `2;${"a".repeat(random.pick([100, 20_000]))}\r\n{}\r\n0\r\n\r\n`),
  },
  {
    name: "many small chunks",
    bytes: (_random, head) => request(head, ["transfer-encoding: chunked"], `${"1\r\n \r\n".repeat(3_000)}0\r\n\r\n`),
  },
  {
    name: "two requests at once",
    bytes: (_random, head) => `${lines("GET /healthz HTTP/1.1", ...head)}\r\n`.repeat(2),
  },
  {
    name: "a hundred requests at once",
    bytes: (_random, head) => `${lines("GET /healthz HTTP/1.1", ...head)}\r\n`.repeat(100),
  },
  { name: "no host", bytes: () => lines("GET /healthz HTTP/1.1", "") },
  { name: "HTTP/0.9", bytes: () => "GET /healthz\r\n" },
  { name: "the preface of HTTP/2", bytes: () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" },
  {
    name: "a request to speak TLS",
    bytes: (random) => Buffer.concat([Buffer.from("16030100c8010000c40303", "hex"), random.bytes(190)]),
  },
  {
    name: "headers that are none",
    bytes: (random, head) =>
      lines(
        "GET /healthz HTTP/1.1",
        ...head,
        random.pick(["nocolon", ":", " x: y", "x\0: y", "x: \0", "\u00e9: 1", "x: a\rb", "(a): 1"]),
        "",
      ),
  },
  { name: "bare line feeds", bytes: (_random, head) => ["GET /healthz HTTP/1.1", ...head, "", ""].join("\n") },
  { name: "empty lines first", bytes: (_random, head) => `\r\n\r\n\r\n${lines("GET /healthz HTTP/1.1", ...head)}\r\n` },
  {
    name: "headers without end",
    bytes: (_random, head) =>
      lines("GET /healthz HTTP/1.1", ...head, ...Array.from({ length: 3_000 }, (_, at) => `x${at}: y`)),
  },
  { name: "a request line without end", bytes: (random) => `GET /${"a".repeat(random.pick([16_000, 100_000]))}` },
  { name: "random bytes", bytes: (random) => Buffer.from(random.bytes(random.skewed(1, 3_000))) },
  { name: "random text", bytes: (random) => Buffer.from(random.bytes(random.skewed(1, 3_000))).toString("base64") },
  { name: "nothing", bytes: () => "" },
];

export const rawHttp: Input = async (step) => {
  const { stage, scene, random } = step;
  const shape = random.pick(shapes);
  const { sender } = scene.troupe;
  const head = [
    `host: 127.0.0.1:${stage.port}`,
    "content-type: application/json",
    `authorization: Bearer ${await sender.credential()}`,
  ];
  const id = scene.newId(random);
  const said = JSON.stringify({ id, capability: scene.troupe.open_capability, input: 1 });
  const hidden = request(head, [`content-length: ${Buffer.byteLength(said)}`], said);
  const bytes = Buffer.from(shape.bytes(random, head, hidden));
  count(stage.tally.mutations, `raw http: ${shape.name}`);
  stage.tally.bytes += bytes.length;
  const spoken = await speak(step, bytes);
  const fault = spoken ?? (shape.is_ambiguous === true ? await smuggledFault(step, id) : null);
  return { fault, mutations: 0, done: [`raw http: ${shape.name}`], persona: "nobody", bytes };
};

async function speak({ stage, random }: Step, bytes: Buffer): Promise<string | null> {
  const wire = await HttpWire.open(stage.port, someAddress(stage, random));
  wire.write(bytes);
  wire.end();
  for (;;) {
    const answer = await wire.answer("GET", stage.answer_within_ms);
    if (answer.kind === "closed") return null;
    if (answer.kind === "late") return `neither an answer nor a close within ${stage.answer_within_ms} ms`;
    if (answer.kind === "garbled") return answer.why;
    const { status, body, headers } = answer.reply;
    const is_problem = headers.get("content-type")?.startsWith("application/problem+json") === true;
    stage.tally.answered(null, status, undefined);
    // To a request without a Host, Node itself says no, and no more than that.
    if (status === 400 && body.length === 0) continue;
    const fault = faultOf(null, { status, body: is_problem ? JSON.parse(body.toString("utf8")) : null, is_problem });
    if (fault !== null) return fault;
  }
}

/** The hidden request would have been accepted, had anybody taken it for one. */
async function smuggledFault({ scene, stage }: Step, id: string): Promise<string | null> {
  const wire = await HttpWire.open(stage.port);
  const target = `/v1/handoffs/${id}`;
  const credential = await scene.troupe.sender.credential();
  wire.write(
    Buffer.from(
      `${lines(`GET ${target} HTTP/1.1`, `host: 127.0.0.1:${stage.port}`, `authorization: Bearer ${credential}`)}\r\n`,
    ),
  );
  const answer = await wire.answer("GET", stage.answer_within_ms);
  wire.drop();
  // Whatever else is answered says nothing of it: on a connection that its caller wants closed, any request is refused.
  if (answer.kind !== "reply" || answer.reply.status !== 200) return null;
  return `a request hidden in another was carried out: ${operationAt("POST", "/v1/handoffs")} ${id}`;
}
