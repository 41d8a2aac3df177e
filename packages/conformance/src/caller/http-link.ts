/** The operations over HTTP, by plain `fetch`. */

import { routes } from "@handfast/protocol";
import type { OperationName } from "@handfast/protocol/wire";
import { Broken, parseJson, shown, Unreached } from "../broken.ts";
import { type Answer, answer_within_ms, type CallParts, type EventStream, type Link } from "./link.ts";
import { readServerSentEvents } from "./server-sent-events.ts";

export class HttpLink implements Link {
  readonly #url: string;
  readonly #credential: () => string | null;
  readonly #over: AbortSignal | null;

  /** After `over` nothing is called any more, and what is under way is given up. */
  constructor(url: string, credential: () => string | null, over: AbortSignal | null = null) {
    this.#url = url;
    this.#credential = credential;
    this.#over = over;
  }

  async call(op: OperationName, parts: CallParts): Promise<Answer> {
    const response = await this.fetch(op, parts);
    return readAnswer(response);
  }

  async stream(op: OperationName, parts: CallParts): Promise<EventStream> {
    const ended = new AbortController();
    const response = await this.fetch(op, { ...parts, signal: ended.signal }, { accept: "text/event-stream" });
    if (response.status !== 200 || response.body === null) {
      throw new Broken("a stream (HTTP 200)", `HTTP ${response.status} ${shown(await response.text())}`);
    }
    return readServerSentEvents(response.body, ended);
  }

  /** The response itself, for checks that look at its headers. */
  async fetch(op: OperationName, parts: CallParts, more: Readonly<Record<string, string>> = {}): Promise<Response> {
    const { wait_ms = 0 } = parts;
    const given = [parts.signal, this.#over].filter((each) => each != null);
    const patience = AbortSignal.timeout(wait_ms + answer_within_ms);
    // A stream is open for as long as its reader wants.
    const ends = [...given, ...("accept" in more ? [] : [patience])];
    try {
      return await fetch(this.address(op, parts), {
        method: routes[op].method,
        headers: { ...this.#headers(parts), ...more },
        ...bodyOf(parts),
        signal: AbortSignal.any(ends),
      });
    } catch (error) {
      if (given.some(({ aborted }) => aborted)) throw error;
      if (patience.aborted) throw new Broken(`an answer within ${wait_ms + answer_within_ms} ms`, "none");
      throw new Unreached(`${op} could not reach ${this.#url}: ${reasonOf(error)}`);
    }
  }

  address(op: OperationName, { params = {}, query = {} }: CallParts): string {
    const path = routes[op].path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
    const asked = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    return `${this.#url}${path}${asked.length === 0 ? "" : `?${asked.join("&")}`}`;
  }

  #headers({ body, bytes, content_type, wait_ms = 0, ...parts }: CallParts): Record<string, string> {
    const credential = this.#credential();
    const type = content_type ?? (bytes === undefined ? "application/json" : "application/octet-stream");
    return {
      ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
      ...(body === undefined && bytes === undefined ? {} : { "content-type": type }),
      ...(wait_ms === 0 ? {} : { prefer: `wait=${Math.ceil(wait_ms / 1_000)}` }),
      ...(parts.idempotency_key === undefined ? {} : { "idempotency-key": parts.idempotency_key }),
      ...(parts.traceparent === undefined ? {} : { traceparent: parts.traceparent }),
      ...(parts.last_event_id === undefined ? {} : { "last-event-id": parts.last_event_id }),
    };
  }

  close(): void {}
}

function bodyOf({ body, bytes }: CallParts): { body?: string | Uint8Array<ArrayBuffer> } {
  if (bytes !== undefined) return { body: Uint8Array.from(bytes) };
  return body === undefined ? {} : { body: JSON.stringify(body) };
}

async function readAnswer(response: Response): Promise<Answer> {
  const type = response.headers.get("content-type") ?? "";
  const retry_after = response.headers.get("retry-after");
  const isText = /^(application\/([a-z+.-]+\+)?json|text\/|application\/jsonl)/.test(type);
  const common = {
    status: response.status,
    retry_after_ms: retry_after === null ? null : Number(retry_after) * 1_000,
  };
  const bytes = new Uint8Array(await received(response));
  if (!isText) return { ...common, body: undefined, text: null, bytes };
  const text = new TextDecoder().decode(bytes);
  if (!/^application\/([a-z+.-]+\+)?json(;|$)/.test(type)) return { ...common, body: undefined, text, bytes: null };
  return { ...common, body: parseJson(text, "a body of the content type application/json"), text: null, bytes: null };
}

async function received(response: Response): Promise<ArrayBuffer> {
  try {
    return await response.arrayBuffer();
  } catch (error) {
    throw new Unreached(`the answer broke off: ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
