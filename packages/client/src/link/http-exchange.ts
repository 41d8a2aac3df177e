/** One request and its answer: an operation put on HTTP, and what came back taken apart. Nothing is tried again here. */

import { routes } from "@handfast/protocol/client";
import type { OperationName, Operations } from "@handfast/protocol/wire";
import { HandoffError, type ProblemDocument } from "../errors.ts";
import type { Surroundings } from "../surroundings.ts";
import { joinSignals } from "./any-signal.ts";
import { linkLimits } from "./limits.ts";
import type { Call } from "./link.ts";
import { NotReached } from "./persist.ts";
import { isProblem } from "./refusal.ts";

export interface ExchangeOptions {
  readonly authorization?: string;
  readonly wait_ms?: number;
  /** How long the answer may take once the wait is over. */
  readonly answer_ms?: number;
  readonly signal?: AbortSignal | undefined;
  readonly traceparent?: string | undefined;
  /** The answer may leave out what the caller has or can ask for. */
  readonly minimal?: boolean | undefined;
}

/** A relay refused: the problem as it came, and when it says to come back. */
export class Refused extends Error {
  readonly problem: ProblemDocument;
  readonly retry_after_ms: number;

  constructor(problem: ProblemDocument, retry_after_ms: number) {
    super(problem.detail);
    this.problem = problem;
    this.retry_after_ms = retry_after_ms;
  }
}

/** An open answer that is read piece by piece. */
export interface OpenStream {
  readonly pieces: AsyncIterable<Uint8Array>;
  close(): void;
}

const texts: ReadonlySet<OperationName> = new Set(["log", "metrics"]);

export class HttpExchange {
  readonly url: string;
  readonly #fetch: typeof fetch;
  readonly #surroundings: Surroundings;

  constructor(url: string, fetcher: typeof fetch, surroundings: Surroundings) {
    this.url = url.replace(/\/+$/, "");
    // Bound: a browser's fetch refuses to be called as the method of anything but the window.
    this.#fetch = fetcher.bind(globalThis);
    this.#surroundings = surroundings;
  }

  async once<Name extends OperationName>(
    name: Name,
    call: Call<Name>,
    options: ExchangeOptions = {},
  ): Promise<Operations[Name]["reply"]> {
    const wait_ms = Math.min(options.wait_ms ?? 0, linkLimits.wait_most_ms);
    const joined = joinSignals(options.signal);
    const { answer_ms = linkLimits.answer_ms } = options;
    const callOff = this.#surroundings.after(wait_ms + answer_ms, () =>
      joined.abort(new NotReached("the relay did not answer in time")),
    );
    try {
      const prefer = [
        ...(wait_ms > 0 ? [`wait=${Math.ceil(wait_ms / 1_000)}`] : []),
        ...(options.minimal === true ? ["return=minimal"] : []),
      ];
      const headers = { ...headersOf(options), ...(prefer.length > 0 ? { prefer: prefer.join(", ") } : {}) };
      const response = await this.#request(name, call, headers, joined.signal);
      return (await read(response, name, this.url, joined.signal)) as Operations[Name]["reply"];
    } finally {
      callOff();
      joined.release();
    }
  }

  /** The answer as a stream of server-sent events. */
  async open<Name extends OperationName>(
    name: Name,
    call: Call<Name>,
    options: ExchangeOptions & { readonly last_event_id?: string | undefined },
  ): Promise<OpenStream> {
    const joined = joinSignals(options.signal);
    const { last_event_id } = options;
    const headers = {
      ...headersOf(options),
      accept: "text/event-stream",
      ...(last_event_id === undefined ? {} : { "last-event-id": last_event_id }),
    };
    let heard_at = this.#surroundings.now();
    const silent = () => joined.abort(new NotReached("the stream went silent"));
    let callOff = this.#surroundings.after(options.answer_ms ?? linkLimits.answer_ms, silent);
    const listen = () => {
      const left_ms = heard_at + linkLimits.stream_silence_ms - this.#surroundings.now();
      if (left_ms <= 0) return silent();
      callOff = this.#surroundings.after(left_ms, listen);
    };
    const close = () => {
      callOff();
      joined.release();
      joined.abort(new NotReached("the stream was closed"));
    };
    try {
      const response = await this.#request(name, call, headers, joined.signal);
      if (!response.ok || response.body === null) await read(response, name, this.url, joined.signal);
      callOff();
      listen();
      const body = response.body ?? emptyStream();
      return { pieces: pieces(body, joined.signal, () => (heard_at = this.#surroundings.now())), close };
    } catch (error) {
      close();
      throw error;
    }
  }

  async #request<Name extends OperationName>(
    name: Name,
    call: Call<Name>,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Response> {
    const { method, path } = routes[name];
    const isBytes = call.body instanceof Uint8Array;
    const body = call.body === undefined ? undefined : isBytes ? call.body : JSON.stringify(call.body);
    const type = isBytes ? "application/octet-stream" : "application/json";
    try {
      return await this.#fetch(this.url + fillPath(path, call.params) + queryText(call.query), {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { "content-type": type }) },
        redirect: "error",
        signal,
        ...(body === undefined ? {} : { body: body as string }),
      });
    } catch (error) {
      throw unreached(error, signal);
    }
  }
}

/** What the signal says where it aborted; else the relay was not reached. */
function unreached(error: unknown, signal: AbortSignal): unknown {
  return signal.aborted ? signal.reason : new NotReached("the call did not reach the relay", error);
}

function headersOf({ authorization, traceparent }: ExchangeOptions): Record<string, string> {
  return {
    ...(authorization === undefined ? {} : { authorization: `Bearer ${authorization}` }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

function fillPath(path: string, params: object | undefined): string {
  const values = params as Readonly<Record<string, string>> | undefined;
  return path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(values?.[name] ?? ""));
}

function queryText(query: object | undefined): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return text === "" ? "" : `?${text}`;
}

async function read(response: Response, name: OperationName, url: string, signal: AbortSignal): Promise<unknown> {
  try {
    if (response.ok && name === "get_artifact") return new Uint8Array(await response.arrayBuffer());
    if (response.status === 204) return undefined;
    const text = await response.text();
    if (response.ok && texts.has(name)) return text;
    const value = parse(text);
    if (response.ok && value !== undefined) return value;
    if (isProblem(value)) throw new Refused(value, retryAfter(response));
    // A relay that is not ready answers its health with 503: that is an answer.
    if (name === "readyz" && value !== undefined) return value;
    throw notARelay(response, url);
  } catch (error) {
    if (error instanceof Refused || error instanceof NotReached || error instanceof HandoffError) throw error;
    throw unreached(error, signal);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A gateway in between, which may mend itself; or something else that listens there, which will not. */
function notARelay(response: Response, url: string): Error {
  const type = response.headers.get("content-type") ?? "no content type";
  const message = `${url} answered ${response.status} with ${type}, which is not how a Handfast relay answers.`;
  if (response.status >= 500 || response.status === 429) return new NotReached(message);
  const remedy = "Check the URL (option url, HANDFAST_URL): the relay's own, without a path.";
  return new HandoffError({ code: 400, reason: "not_a_relay", message, remedy, retryable: false });
}

function retryAfter(response: Response): number {
  const seconds = Number(response.headers.get("retry-after") ?? 0);
  return Number.isFinite(seconds) ? seconds * 1_000 : 0;
}

function emptyStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.close() });
}

async function* pieces(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  heard: () => void,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      yield value;
    }
  } catch (error) {
    throw unreached(error, signal);
  } finally {
    // The connection may be gone already: there is nothing left to say to it.
    await reader.cancel().catch(() => {});
  }
}
