/** A call on its way over a WebSocket: what is sent of it, as often as needed, and who waits for its answer. */

import { scanJson, toUtf8 } from "@handfast/protocol/client";
import type { OperationName } from "@handfast/protocol/wire";
import { HandoffError } from "../errors.ts";
import type { Call, StreamEvent, Unsigned } from "./link.ts";
import type { Hello, Reply } from "./relay-frame.ts";

export interface WsCall {
  /** Its number on the line, new each time that it is added. */
  readonly n: number;
  /** Of a worker that must be able to end what it holds: sent before others, and where others must wait. */
  readonly is_vital: boolean;
  /** Answered at once or not at all: close() waits for it. */
  readonly is_act: boolean;
  /** Means nothing on another connection. */
  readonly is_bound: boolean;
  /** The call as it stands in a frame for this relay. */
  text(hello: Hello): string;
  readonly bytes: number;
  /** Of its objects, or somewhat more. */
  readonly keys: number;
  /** The handoff it is about, for its errors. */
  readonly handoff: string | null;
  /** What the frame's signature covers of it. */
  readonly documents: readonly Pick<Unsigned, "typ" | "document">[];
  readonly began_at: number;
  readonly patience_ms: number;
  /** A connection that is silent for so long while this call waits is taken for dead. */
  readonly answer_ms?: number | undefined;
  reply(reply: Reply): void;
  event(event: StreamEvent): void;
  reject(error: unknown): void;
}

const vital: ReadonlySet<string> = new Set([
  "ack",
  "heartbeat",
  "complete",
  "fail",
  "reject",
  "release",
  "checkpoint",
  "write_chunk",
  "authenticate",
]);

export function isVital(op: string): boolean {
  return vital.has(op);
}

/** What a call carries, as JSON. */
export function contentText({ params, query, body }: Partial<Call<OperationName>>): string {
  return JSON.stringify({ params, query, body });
}

/** What a call says besides its number: its name, members of its own such as `wait_ms`, and what it carries. */
export function callText(op: string, content: string, more = ""): string {
  const rest = content.slice(1);
  return `"op":"${op}"${more}${rest === "}" ? "" : ","}${rest}`;
}

export function signedBody({ document, payload, payload_encoding }: Unsigned): object {
  return { signed: { document, payload, payload_encoding } };
}

/** The 64 levels of a relay, below the call itself. */
const strict = { max_depth: 65, max_keys: 100_000 } as const;

/** A frame that is not strict JSON ends its connection, with the calls of others in it: so one is refused here, alone. */
export function checkStrict(content: string, handoff: string | null): void {
  const fault = scanJson(content, strict);
  if (fault === null) return;
  const { reason, path } = fault;
  const where = path.replace(/^\/(params|query|body)/, "");
  const what = `${reason.replaceAll("_", " ")}${where === "" ? "" : ` at ${where}`}`;
  const message = `What was to be sent is not JSON that a relay takes: ${what}.`;
  throw new HandoffError({ code: 400, reason, message, retryable: false, handoff });
}

/** No text has more than three bytes for a UTF-16 unit: that is said of a short one, and a long one is counted. */
export function byteLength(text: string): number {
  if (text.length <= short_text) return text.length * 3;
  return isAscii.test(text) ? text.length : toUtf8(text).length;
}

const short_text = 4_000;
const isAscii = /^[\0-\x7f]*$/;

/** Never too few: what looks like a key in a string is counted as well. */
export function keyCount(text: string): number {
  let keys = 0;
  for (let at = text.indexOf('":'); at !== -1; at = text.indexOf('":', at + 2)) keys += 1;
  return keys;
}
