/** A frame of a client, read once and strictly: what is not a frame ends the connection, for nothing in it can be trusted. */

import { parseStrictBytes } from "@handfast/protocol";
import type { RelayLimits } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { ConnectionEnd, malformed } from "./connection-end.ts";

/** One call; only `n` and `op` are known to be what they should be. */
export interface FrameCall {
  readonly n: number;
  readonly op: string;
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
  readonly wait_ms?: unknown;
  readonly stream?: unknown;
  readonly return?: unknown;
  readonly last_event_id?: unknown;
  readonly idempotency_key?: unknown;
  readonly traceparent?: unknown;
  readonly content_type?: unknown;
  readonly base64?: unknown;
}

export interface FrameSignature {
  readonly key: string;
  readonly sig: string;
}

export interface Frame {
  readonly hello?: { readonly credential: string };
  readonly calls?: readonly FrameCall[];
  readonly signature?: FrameSignature;
  readonly abandon?: readonly number[];
  readonly ping?: number;
}

type Members = Readonly<Record<string, unknown>>;

const frameMembers: ReadonlySet<string> = new Set(["hello", "calls", "signature", "abandon", "ping"]);
const callMembers: ReadonlySet<string> = new Set([
  "n",
  "op",
  "params",
  "query",
  "body",
  "wait_ms",
  "stream",
  "return",
  "last_event_id",
  "idempotency_key",
  "traceparent",
  "content_type",
  "base64",
]);
/** What thousands of idle peers say all day. */
const lonePing = /^\{"ping":(0|[1-9]\d{0,9})\}$/;
const longest_lone_ping = 19;
/** A frame, its list of calls, and one of them stand around a body. */
const depth_around_body = 3;

export function readFrame(bytes: Uint8Array, isBinary: boolean, limits: RelayLimits): Frame {
  if (isBinary) throw malformed("binary_frame", "A binary frame came; every frame is text, one JSON object.");
  const max_bytes = limits.ws_frame_bytes;
  if (bytes.length > max_bytes) {
    const detail = `The frame is larger than ${max_bytes} bytes; send less at once, and artifacts over HTTP.`;
    throw new ConnectionEnd("frame_too_large", new Problem(413, "frame_too_large", detail));
  }
  const ping = bytes.length <= longest_lone_ping ? lonePing.exec(Buffer.from(bytes).toString("latin1")) : null;
  if (ping !== null) return { ping: Number(ping[1]) };
  const max_depth = limits.json_depth + depth_around_body;
  const json = parseStrictBytes(bytes, { max_depth, max_keys: limits.ws_frame_json_keys });
  if (!json.ok) {
    const { reason, path, offset } = json.fault;
    const where = path === "" ? `at character ${offset}` : `at ${JSON.stringify(path)} (character ${offset})`;
    throw malformed(reason, `The frame is not JSON that can be taken: ${reason.replaceAll("_", " ")} ${where}.`);
  }
  return checkFrame(json.value, limits);
}

function checkFrame(value: unknown, { ws_frame_calls, ws_calls_in_flight }: RelayLimits): Frame {
  const frame = members(value, frameMembers, "The frame");
  const { hello, calls, signature, abandon, ping } = frame as { readonly [Name in keyof Frame]?: unknown };
  if (Object.keys(frame).length === 0) throw malformed("empty_frame", "The frame says nothing.");
  if (hello !== undefined && !isHello(hello)) {
    throw malformed("bad_hello", 'The hello must be {"credential": "<session credential or token>"} and no more.');
  }
  if (signature !== undefined && !isSignature(signature)) {
    throw malformed("bad_signature_member", 'The signature must be {"key": "…", "sig": "…"} and no more.');
  }
  if (ping !== undefined && !Number.isSafeInteger(ping)) throw malformed("bad_ping", "A ping is a whole number.");
  if (abandon !== undefined && !isNumbers(abandon, ws_calls_in_flight)) {
    throw malformed("bad_abandon", 'What is abandoned is a list of the "n" of calls.');
  }
  if (calls !== undefined) checkCalls(calls, ws_frame_calls);
  return frame as Frame;
}

function checkCalls(calls: unknown, most: number): void {
  if (!Array.isArray(calls)) throw malformed("bad_calls", '"calls" must be a list.');
  if (calls.length > most) {
    const detail = `The frame has ${calls.length} calls; at most ${most} go in one. None of them was run.`;
    throw new ConnectionEnd("too_many_calls", new Problem(413, "too_many_calls", detail));
  }
  for (const call of calls) {
    const { n, op } = members(call, callMembers, "A call") as { readonly n?: unknown; readonly op?: unknown };
    if (!Number.isSafeInteger(n) || Number(n) < 1) throw malformed("bad_n", 'A call has no "n", a positive integer.');
    if (typeof op !== "string") throw malformed("bad_op", `Call ${n} has no "op", the name of an operation.`);
  }
}

function members(value: unknown, known: ReadonlySet<string>, what: string): Members {
  if (!isObject(value)) throw malformed("not_an_object", `${what} is not a JSON object.`);
  for (const name in value) {
    if (known.has(name)) continue;
    const shown = JSON.stringify(name.slice(0, 64));
    throw malformed("unknown_member", `${what} has the unknown member ${shown}; known are ${[...known].join(", ")}.`);
  }
  return value;
}

export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isHello(value: unknown): boolean {
  return isObject(value) && typeof value["credential"] === "string" && Object.keys(value).length === 1;
}

function isSignature(value: unknown): boolean {
  if (!isObject(value) || Object.keys(value).length !== 2) return false;
  return typeof value["key"] === "string" && typeof value["sig"] === "string";
}

function isNumbers(value: unknown, most: number): boolean {
  return Array.isArray(value) && value.length <= most && value.every((each) => Number.isSafeInteger(each));
}
