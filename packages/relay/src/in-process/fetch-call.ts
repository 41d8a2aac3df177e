/** One HTTP request that never leaves the process: a standard Request goes in, a standard Response comes out. */

import { parseStrictBytes } from "@handfast/protocol";
import type { Caller } from "../identity/caller.ts";
import { limits } from "../limits.ts";
import type { Operation, Reply, RequestFacts } from "../operations/operation.ts";
import { operations } from "../operations/table.ts";
import { Problem } from "../problem.ts";
import type { AnyCall, Calls, Carrier, Said } from "../transports/calls.ts";
import { formatEvent } from "../transports/http/event-stream.ts";
import { isMinimal, waitOf } from "../transports/http/prefer.ts";
import { problemReply } from "../transports/http/problem-reply.ts";
import { idempotencyKeyOf, traceparentOf } from "../transports/request-facts.ts";

/** Rejects as fetch does when the request's signal aborts. */
export async function fetchFrom(calls: Calls, request: Request): Promise<Response> {
  const url = new URL(request.url);
  const found = findOperation(request.method, url.pathname);
  if (found === null) return refusal(new Problem(404, "unknown_path", `Nothing is served at ${url.pathname}.`));
  const { operation, params } = found;
  const call = new FetchCall(calls, request, params, Object.fromEntries(url.searchParams));
  void calls.take(operation.name, call);
  return call.response;
}

function findOperation(method: string, pathname: string) {
  for (const operation of operations) {
    const pattern = operation.path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)");
    const match = operation.method === method ? new RegExp(`^${pattern}$`).exec(pathname) : null;
    if (match === null) continue;
    const params = Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]);
    return { operation, params: Object.fromEntries(params) as Record<string, string> };
  }
  return null;
}

class FetchCall implements Carrier {
  readonly signal: AbortSignal;
  /** What is answered is the caller's at once. */
  readonly outlet = { bytes: 0 };
  readonly response: Promise<Response>;
  readonly #calls: Calls;
  readonly #request: Request;
  readonly #params: Readonly<Record<string, string>>;
  readonly #query: Readonly<Record<string, string>>;
  readonly #controller = new AbortController();
  readonly #respond: (response: Response) => void;

  constructor(
    calls: Calls,
    request: Request,
    params: Readonly<Record<string, string>>,
    query: Readonly<Record<string, string>>,
  ) {
    this.#calls = calls;
    this.#request = request;
    this.#params = params;
    this.#query = query;
    this.signal = AbortSignal.any([this.#controller.signal, request.signal]);
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    this.response = promise;
    this.#respond = resolve;
    const gone = () => reject(request.signal.reason);
    request.signal.addEventListener("abort", gone);
    if (request.signal.aborted) gone();
  }

  end(): void {
    this.#controller.abort();
  }

  identify(operation: Operation): Promise<Caller | null> {
    return this.#calls.authenticate(operation, this.#header("authorization"), "in-process");
  }

  said(operation: Operation): Said {
    const wait_ms = operation.waits === true ? waitOf(this.#header("prefer")) : 0;
    return { params: this.#params, query: this.#query, wait_ms, facts: this.#facts(operation) };
  }

  #header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  #facts(operation: Operation): RequestFacts {
    const { headers, body } = this.#request;
    const length = headers.get("content-length");
    return {
      idempotency_key: idempotencyKeyOf(this.#header("idempotency-key")),
      traceparent: traceparentOf(this.#header("traceparent")),
      last_event_id: headers.get("last-event-id"),
      if_none_match: headers.get("if-none-match"),
      range: headers.get("range"),
      wants_stream: operation.streams === true && (headers.get("accept") ?? "").includes("text/event-stream"),
      minimal: operation.minimal === true && isMinimal(this.#header("prefer")),
      content_type: headers.get("content-type"),
      content_length: length === null ? null : Number(length),
      stream: operation.streams_body === true ? piecesOf(body) : null,
    };
  }

  async body(operation: Operation): Promise<unknown> {
    const bytes = new Uint8Array(await this.#request.arrayBuffer());
    if (bytes.length === 0) return {};
    const max_bytes = operation.body_bytes ?? limits.body_bytes;
    const read = parseStrictBytes(bytes, { max_bytes, max_depth: limits.json_depth, max_keys: limits.json_keys });
    if (read.ok) return read.value;
    const { reason, path } = read.fault;
    const code = reason === "too_large" ? 413 : 400;
    const detail = `The body is not JSON that can be taken: ${reason.replaceAll("_", " ")}.`;
    throw new Problem(code, reason, detail, { fields: [path] });
  }

  refuse(problem: Problem): void {
    this.#respond(refusal(problem));
  }

  async deliver(answer: Reply, _call: AnyCall): Promise<void> {
    switch (answer.kind) {
      case "json": {
        if (this.#request.signal.aborted) return answer.undelivered?.();
        const headers = { "content-type": "application/json; charset=utf-8", ...answer.headers };
        this.#respond(new Response(answer.text(), { status: answer.status, headers }));
        return;
      }
      case "text":
        this.#respond(
          new Response(answer.text === "" ? null : answer.text, { status: answer.status, headers: answer.headers }),
        );
        return;
      case "nothing":
        this.#respond(new Response(null, { status: answer.status }));
        return;
      case "bytes":
        this.#respond(new Response(streamOf(answer.bytes), { status: answer.status, headers: answer.headers }));
        return;
      case "events":
        return this.#stream(answer.events);
      default:
        throw new Error(`unreachable reply ${JSON.stringify(answer satisfies never)}`);
    }
  }

  /** Lasts as long as the stream does. */
  #stream(events: Extract<Reply, { kind: "events" }>["events"]): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const text = async function* () {
      try {
        for await (const event of events) yield new TextEncoder().encode(formatEvent(event));
      } finally {
        resolve();
      }
    };
    this.#respond(new Response(streamOf(text()), { headers: { "content-type": "text/event-stream" } }));
    return promise;
  }
}

async function* piecesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body !== null) yield* body;
}

function streamOf(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}

function refusal(problem: Problem): Response {
  const { status, headers, document } = problemReply(problem);
  return new Response(JSON.stringify(document), { status, headers });
}
