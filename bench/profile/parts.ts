/** Which part of a handoff's way a piece of code belongs to, by the file and function it is in: the first rule that fits. */

export interface Rule {
  readonly part: string;
  /** Matched against the file's path below `packages/` or `node_modules/`, or `node:…`. */
  readonly file: RegExp;
  readonly function?: RegExp;
}

const rule = (part: string, file: RegExp, name?: RegExp): Rule =>
  name === undefined ? { part, file } : { part, file, function: name };

const parsing = [rule("parse", /^protocol\/src\/(strict-json|json-|read-)/)];
const proving = [rule("verify and sign", /^protocol\/src\/(merkle|sign|keys|crypto|ed25519|encoding|proof|documents)/)];

/** For the relay's process. */
export const relayRules: readonly Rule[] = [
  ...parsing,
  rule("parse", /^relay\/src\/transports\/(websocket\/(frame|bearer)\.ts|http\/read-json)/),
  rule("verify and sign", /^relay\/src\/(identity|proof)\/|websocket\/frame-proofs|operations\/acts/),
  ...proving,
  rule("validate", /^relay\/src\/schemas\/|^protocol\/src\/(fields|wire)|^typebox\/|^ajv\//),
  rule("decide", /^core\//),
  rule("commit", /^store-sqlite\/src\/sqlite-store\.ts/, /transaction/),
  rule("rows", /^store-sqlite\/src\/row/),
  rule("statements", /^store-sqlite\//),
  rule("engine", /^engine\//),
  rule("serialise", /^relay\/src\/operations\/(view|read|json-bytes|payloads|operation)\.ts|reply-bytes/),
  rule("directory", /^relay\/src\/directory\//),
  rule("operations", /^relay\/src\/operations\//),
  rule("frames", /^relay\/src\/transports\/|^ws\/|^fastify|^find-my-way/),
  rule("metrics and log", /^relay\/src\/metrics|^prom-client\/|^pino|^sonic-boom/),
  rule("relay, other", /^relay\//),
  rule("sockets", /^node:(net|http|_http|internal\/(stream|streams|http|net|js_stream))/),
  rule("event loop", /^node:/),
];

/** For the process of sender and worker. */
export const clientRules: readonly Rule[] = [
  ...parsing,
  rule("parse", /^client\/src\/link\/relay-frame/),
  rule("verify and sign", /^client\/src\/(identity|trust|signed-lease|link\/signing-queue|send\/proofs)/),
  ...proving,
  rule("send", /^client\/src\/(send\/|acts|payload)/),
  rule("heartbeats", /^client\/src\/serve\/(node-)?beat/),
  rule("serve", /^client\/src\/serve\//),
  rule(
    "frames",
    /^client\/src\/link\/(ws-connection|ws-outbox|node-socket|web-socket|ws-line)|^node:internal\/deps\/undici/,
  ),
  rule("link", /^client\//),
  rule("benchmark", /^bench\//),
  rule("sockets", /^node:(net|http|_http|tls|internal\/(stream|streams|http|net|js_stream))/),
  rule("event loop", /^node:/),
];

/** Told by the profiler itself, in place of a function. */
export const special: ReadonlyMap<string, string> = new Map([
  ["(garbage collector)", "garbage collection"],
  ["(idle)", "idle"],
  ["(program)", "native, unattributed"],
  ["(root)", "native, unattributed"],
]);

/** Below `packages/`, `node_modules/` or `bench/`; Node's own as they are. */
export function shortPath(url: string): string {
  const [, packaged] = /\/(?:packages|node_modules)\/((?!.*\/(?:packages|node_modules)\/).*)$/.exec(url) ?? [];
  const [, bench] = /\/(bench\/.*)$/.exec(url) ?? [];
  return packaged ?? bench ?? url;
}
