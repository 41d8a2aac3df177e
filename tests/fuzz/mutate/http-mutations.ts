/** What is done wrong to a request over HTTP: method, address, headers, and how the body is framed. */

import type { HttpDraft } from "../inputs/http-draft.ts";
import { oddText } from "../json/odd-values.ts";
import type { Around, Mutation } from "./mutation.ts";

type Change = (request: HttpDraft, around: Around) => Partial<HttpDraft>;

function mutation(name: string, change: Change): Mutation<HttpDraft> {
  return { name, apply: (request, around) => ({ ...request, ...change(request, around) }) };
}

/** Characters that would end the line are only put in where that is the purpose. */
const inLine = (text: string) => text.replaceAll(/[\r\n\0]/g, "");
const oddLine = ({ random }: Around) => inLine(Buffer.from(oddText(random).slice(1, 3_000)).toString("latin1"));

function header(name: string, value: (around: Around) => string): Mutation<HttpDraft> {
  return mutation(`header ${name}`, ({ headers }, around) => {
    const others = headers.filter(([each]) => each !== name);
    return { headers: [...others, [name, value(around)]] };
  });
}

function again(name: string, value: (around: Around) => string): Mutation<HttpDraft> {
  return mutation(`header ${name}, once more`, ({ headers }, around) => ({
    headers: [...headers, [name, value(around)]],
  }));
}

const pick =
  (values: readonly string[]) =>
  ({ random }: Around) =>
    random.pick(values);

const addresses: readonly ((target: string, around: Around) => string)[] = [
  (target) => `/${target}`,
  (target) => `${target}/`,
  (target) => target.replace("/v1/", "/v1//"),
  (target) => target.replace("/v1/", "/v1/./"),
  (target) => target.replace("/v1/", "/x/../v1/"),
  (target) => target.replace("/v1/", "/v1/%2e%2e/v1/"),
  (target) => target.replace("/v1/", "/V1/"),
  (target) => target.replace("/v1/", "/v2/"),
  (target) => target.replaceAll("/", "%2f"),
  (target) => `http://127.0.0.1:1${target}`,
  (target) => target.slice(1),
  (target) => `${target}#fragment`,
  (target) => `${target}%`,
  (target) => `${target}%00`,
  (target) => `${target}%zz`,
  (target) => `${target}%ff%fe`,
  (target) => `${target}%ed%a0%80`,
  (target) => `${target};a=b`,
  (target) => `${target}/../../..`,
  (target) => target.replaceAll(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  (target, around) => target.replace(/[^/]+$/, encodeURIComponent(oddLine(around).slice(0, 2_000))),
  (target, { random }) => `${target}${"a".repeat(random.pick([200, 5_000, 15_000, 17_000]))}`,
  (_target, { random }) =>
    random.pick(["*", "", "/", "//", "?", "/v1", "/v1/connect", "/healthz", "/metrics", "/.well-known/handfast"]),
];

const queries: readonly ((around: Around) => string)[] = [
  () => "limit=0",
  () => "limit=501",
  () => "limit=1e2",
  () => "limit=%201",
  () => "limit=1&limit=2",
  () => "limit[]=1",
  () => "limit[a]=1",
  () => "a=b",
  () => "__proto__=1",
  () => "constructor[prototype][a]=1",
  () => "cursor=",
  () => "cursor=%00",
  () => "cursor=AAAA",
  () => "proofs=yes&input=TRUE",
  () => "&&&=&=",
  () => "label=a",
  () => "label=:",
  () => "order=newest&order=oldest",
  () => "until=ended%00",
  ({ random }) => `cursor=${Buffer.from(random.bytes(random.between(1, 30))).toString("base64url")}`,
  ({ random }) => Array.from({ length: random.pick([10, 1_500]) }, (_, at) => `p${at}=`).join("&"),
  (around) => `${random_name(around)}=${encodeURIComponent(oddLine(around).slice(0, 1_000))}`,
  ({ random, scene, persona }) => `cursor=${encodeURIComponent(String(scene.stray(random, persona)))}`,
];

function random_name({ random }: Around): string {
  return random.pick([
    "limit",
    "cursor",
    "state",
    "from",
    "to",
    "capability",
    "correlation_id",
    "label",
    "code",
    "after",
  ]);
}

export const httpMutations: readonly Mutation<HttpDraft>[] = [
  mutation("another method", (_request, { random }) => ({
    method: random.pick([
      "GET",
      "POST",
      "PUT",
      "DELETE",
      "HEAD",
      "OPTIONS",
      "PATCH",
      "TRACE",
      "CONNECT",
      "get",
      "FOO",
      "PROPFIND",
    ]),
  })),
  mutation("another address", ({ target }, around) => ({
    target: inLine(around.random.pick(addresses)(target, around)).replaceAll(" ", "%20"),
  })),
  mutation("another address", ({ target }, around) => ({
    target: inLine(around.random.pick(addresses)(target, around)).replaceAll(" ", "%20"),
  })),
  mutation("another query", ({ target }, around) => ({
    target: `${target}${target.includes("?") ? "&" : "?"}${around.random.pick(queries)(around)}`,
  })),
  mutation("another query", ({ target }, around) => ({
    target: `${target}${target.includes("?") ? "&" : "?"}${around.random.pick(queries)(around)}`,
  })),
  header(
    "content-type",
    pick([
      "",
      "json",
      "text/plain",
      "application/json; charset=utf-16",
      "application/x-www-form-urlencoded",
      "multipart/form-data",
      "application/json, text/plain",
      "APPLICATION/JSON",
      "application/problem+json",
      "\t",
      'a/b; x="',
      "application/json;",
    ]),
  ),
  mutation("no content type", ({ headers }) => ({ headers: headers.filter(([name]) => name !== "content-type") })),
  header(
    "prefer",
    pick([
      "wait",
      "wait=",
      "wait=-1",
      "wait=1e3",
      "wait=99999999999",
      'wait="1"',
      "wait=1, wait=2",
      "respond-async",
      "wait=0;x",
      "wait=\u00e9",
      ",,,",
      "wait=1.5",
    ]),
  ),
  header("idempotency-key", oddLine),
  header(
    "traceparent",
    pick([
      "",
      "00",
      "00-0-0-00",
      "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      "00-00000000000000000000000000000000-0000000000000000-00",
    ]),
  ),
  header("last-event-id", oddLine),
  header(
    "range",
    pick([
      "bytes=",
      "bytes=-",
      "bytes=9-1",
      "bytes=0-0,2-3",
      "bytes=99999999999999999999-",
      "bytes=-0",
      "chars=0-1",
      "bytes=0-999999999999999",
    ]),
  ),
  header(
    "accept",
    pick([
      "text/event-stream",
      "text/event-stream;q=0",
      "*/*",
      "application/xml",
      "",
      "text/event-stream, text/event-stream",
    ]),
  ),
  header("host", pick(["", "example.com", "127.0.0.1", "127.0.0.1:99999", "[::1]", "localhost:80", "a b", "\u00e9"])),
  header("origin", pick(["null", "http://example.com", "http://127.0.0.1", "", "file://", "chrome-extension://a"])),
  header("expect", pick(["100-continue", "200-ok", ""])),
  header("connection", pick(["close", "upgrade", "keep-alive, close", "te", "x", "Content-Length"])),
  header("upgrade", pick(["websocket", "h2c", "TLS/1.0", ""])),
  header("content-encoding", pick(["gzip", "identity", "br", "x"])),
  header(
    "authorization",
    pick(["", "Bearer", "Bearer ", "Basic YTpi", "bearer x", "Bearer a b", "Digest x", "\u00e9"]),
  ),
  header("x-forwarded-for", pick(["1.2.3.4", "a, b, c", ""])),
  header("x-http-method-override", pick(["DELETE", "GET"])),
  header("te", pick(["trailers", "chunked"])),
  again("host", pick(["127.0.0.1", "example.com"])),
  again("authorization", pick(["Bearer x", "Bearer hft_x"])),
  again("content-type", pick(["application/json", "text/plain"])),
  again("idempotency-key", pick(["a", "b"])),
  mutation("many headers", ({ headers }, { random }) => ({
    headers: [
      ...headers,
      ...Array.from({ length: random.pick([50, 300, 2_100]) }, (_, at) => [`x-${at}`, "1"] as const),
    ],
  })),
  mutation("a long header", ({ headers }, { random }) => ({
    headers: [...headers, ["x-long", "a".repeat(random.pick([1_000, 15_000, 17_000, 70_000]))] as const],
  })),
  mutation("headers in upper case", ({ headers }) => ({
    headers: headers.map(([name, value]) => [name.toUpperCase(), value] as const),
  })),
  mutation("in chunks", (_request, { random }) => ({
    framing: { kind: "chunked", piece_bytes: random.pick([1, 7, 100, 5_000]), ends: "whole" },
  })),
  mutation("chunks that are cut off", (_request, { random }) => ({
    framing: { kind: "chunked", piece_bytes: random.pick([3, 50]), ends: random.pick(["cut", "no_last"]) },
    ending: random.pick(["cut", "half_close"]),
  })),
  mutation("another length", ({ body }, { random }) => {
    const length = body?.length ?? 0;
    const says = random.pick([
      `${length + 1}`,
      `${length + 1_000_000}`,
      `${Math.max(0, length - 1)}`,
      "0",
      "-1",
      "+5",
      "0x10",
      "1e3",
      " 5",
      "5, 5",
      "99999999999999999999",
      "",
      "a",
      "16000001",
      "1500001",
    ]);
    return { framing: { kind: "length", says }, ending: random.pick(["cut", "half_close"]) };
  }),
  mutation("neither length nor chunks", () => ({ framing: { kind: "silent" }, ending: "half_close" })),
  mutation("cut off", (_request, { random }) => ({
    sends: random.between(1, 400),
    ending: random.pick(["cut", "half_close"]),
  })),
  mutation("gone before the answer", () => ({ ending: "cut" })),
  mutation("nothing more comes", () => ({ ending: "half_close" })),
  mutation("another version", (_request, { random }) => ({
    version: random.pick(["HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/1.2", "http/1.1", "", "HTTP/11", "ICE/1.0"]),
  })),
  mutation("other line ends", (_request, { random }) => ({
    line_end: random.pick(["\n", "\r", "\r\r\n", " \r\n", "\r\n "]),
  })),
];
