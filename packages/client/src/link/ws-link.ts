/** The link over a WebSocket: many calls in one frame under one signature, streams beside them, and a way to be told. */

import type { Crypto } from "@handfast/protocol";
import type { OperationName, Operations } from "@handfast/protocol/wire";
import type { Base } from "../base.ts";
import { HandoffError } from "../errors.ts";
import type { Identity } from "../identity/identity.ts";
import type { Surroundings } from "../surroundings.ts";
import { joinSignals } from "./any-signal.ts";
import type { HttpLink } from "./http-link.ts";
import { linkLimits } from "./limits.ts";
import type { Call, CallOptions, LeaseOver, Link, StreamEvent, StreamName, Unsigned } from "./link.ts";
import { cannotSign, closedError, idOf } from "./link-errors.ts";
import { backoff, ComeBack, pause } from "./persist.ts";
import { isProblem, refusalOf } from "./refusal.ts";
import { Resume } from "./resume.ts";
import type { OpenSocket } from "./web-socket.ts";
import { type Asked, Asking } from "./ws-asking.ts";
import { byteLength, callText, checkStrict, contentText, keyCount, signedBody, type WsCall } from "./ws-call.ts";
import { WsLine } from "./ws-line.ts";
import { StreamFeed } from "./ws-stream.ts";

export interface WsLinkOptions {
  readonly url: string;
  readonly open: OpenSocket;
  readonly identity: Identity;
  readonly crypto: Crypto;
  readonly surroundings: Surroundings;
  readonly patience_ms: number;
  /** For bytes, for what is larger than a frame, and for what needs no identity. */
  readonly http: HttpLink;
  /** Told when the relay goes away, and when it is back. */
  readonly onConnection?: (state: "away" | "back") => void;
  readonly warn?: Base["warn"];
}

type Reply<Name extends OperationName> = Operations[Name]["reply"];

/** Text and bytes of any size, which do not belong between calls. */
const overHttp: ReadonlySet<OperationName> = new Set(["put_artifact", "get_artifact", "log", "metrics", "openapi"]);
/** A call that is larger goes over HTTP, which has room for a whole batch. */
const call_bytes_most = linkLimits.frame_bytes - 100_000;

export class WsLink implements Link {
  readonly #options: WsLinkOptions;
  readonly #line: WsLine;
  readonly #asked: Asked;
  readonly #closed = new AbortController();
  readonly #listeners = new Set<(over: LeaseOver) => void>();
  #onIdle: (() => void) | null = null;

  constructor(options: WsLinkOptions) {
    this.#options = options;
    const { url, open, identity, crypto, surroundings, onConnection = () => {}, warn = () => {} } = options;
    const onOver = (over: LeaseOver) => {
      for (const listener of this.#listeners) listener(over);
    };
    const onFault = (why: string) => {
      const message = `The connection to ${url} was closed, because ${why}; it is tried again.`;
      warn({ reason: "not_a_frame", message });
    };
    this.#line = new WsLine({ url, open, identity, crypto, surroundings, onOver, onConnection, onFault });
    const closed = this.#closed.signal;
    this.#asked = { url, line: this.#line, identity, surroundings, closed, onOver: () => this.#noticeIdle() };
  }

  call<Name extends OperationName>(name: Name, call: Call<Name>, options: CallOptions = {}): Promise<Reply<Name>> {
    const { http } = this.#options;
    if (overHttp.has(name)) return http.call(name, call, options);
    return this.#ask(name, call, null, options, () => http.call(name, call, options));
  }

  sign<Name extends OperationName>(
    name: Name,
    { params }: Pick<Call<Name>, "params">,
    unsigned: Unsigned,
    options: CallOptions = {},
  ): Promise<Reply<Name>> {
    const given = params === undefined ? {} : { params };
    const call = { ...given, body: signedBody(unsigned) } as unknown as Call<Name>;
    return this.#ask(name, call, [unsigned], options, () => this.#options.http.sign(name, given, unsigned, options));
  }

  signBatch(unsigned: readonly Unsigned[], options: CallOptions = {}): Promise<Reply<"submit_batch">> {
    const call = { body: { handoffs: unsigned.map(signedBody) } } as unknown as Call<"submit_batch">;
    return this.#ask("submit_batch", call, unsigned, options, () => this.#options.http.signBatch(unsigned, options));
  }

  /** `documents`: what is to be signed of it; null: nothing. `otherwise`: the way for what is larger than a frame. */
  #ask<Name extends OperationName>(
    name: Name,
    call: Call<Name>,
    documents: readonly Unsigned[] | null,
    options: CallOptions,
    otherwise: () => Promise<Reply<Name>>,
  ): Promise<Reply<Name>> {
    return new Promise((resolve, reject) => {
      if (documents !== null && this.#options.identity.signer === null) throw cannotSign();
      const content = contentText(call);
      if (documents === null) checkStrict(content, idOf(call.params));
      const {
        wait_ms = 0,
        patience_ms = this.#options.patience_ms,
        answer_ms,
        traceparent,
        minimal = false,
        signal,
      } = options;
      const said = { name, call, content, documents: documents ?? [], traceparent, minimal };
      const asking = new Asking(this.#asked, { ...said, wait_ms, patience_ms, answer_ms, signal }, resolve, reject);
      if (asking.bytes > call_bytes_most) resolve(otherwise());
      else asking.begin();
    });
  }

  async *stream<Name extends StreamName>(
    name: Name,
    call: Pick<Call<Name>, "params" | "query">,
    options: Pick<CallOptions, "signal" | "patience_ms"> = {},
  ): AsyncGenerator<StreamEvent> {
    const { surroundings } = this.#options;
    const joined = joinSignals(options.signal, this.#closed.signal);
    const resume = new Resume(name);
    let breaks = 0;
    try {
      for (;;) {
        joined.signal.throwIfAborted();
        const outcome = yield* this.#follow(name, call, resume, options, joined.signal);
        if (outcome === "ended") return;
        if (outcome === "caught_up") breaks = 0;
        else await pause(surroundings, Math.max(outcome.after_ms, backoff(++breaks, surroundings)), joined.signal);
      }
    } finally {
      joined.release();
    }
  }

  /** One opening of a stream, which goes on over breaks of the line; until its end, or until it must be opened anew. */
  async *#follow<Name extends StreamName>(
    name: Name,
    { params, query }: Pick<Call<Name>, "params" | "query">,
    resume: Resume,
    { patience_ms = this.#options.patience_ms }: Pick<CallOptions, "patience_ms">,
    signal: AbortSignal,
  ): AsyncGenerator<StreamEvent, "ended" | "caught_up" | { readonly after_ms: number }> {
    const feed = new StreamFeed(resume);
    const text = () => {
      const { last_event_id } = resume;
      const asked = { params, query: resume.query(query) } as Partial<Call<OperationName>>;
      const last = last_event_id === undefined ? "" : `,"last_event_id":${JSON.stringify(last_event_id)}`;
      return callText(name, contentText(asked), `,"stream":true${last}`);
    };
    const abort = () => feed.fail(signal.reason);
    const following: WsCall = {
      n: this.#line.nextNumber(),
      is_vital: false,
      is_act: false,
      is_bound: false,
      text,
      bytes: byteLength(text()),
      keys: keyCount(text()),
      handoff: idOf(params),
      documents: [],
      began_at: this.#options.surroundings.now(),
      patience_ms,
      reply: ({ problem, retry_after_ms = 0 }) => {
        if (isProblem(problem)) feed.fail(refusalOf(problem, idOf(params), retry_after_ms).error);
        else feed.push({ event: "end", data: null });
      },
      event: (event) => {
        if (!feed.push(event)) this.#line.abandon(following);
      },
      reject: (error) => feed.fail(error),
    };
    signal.addEventListener("abort", abort, { once: true });
    this.#line.add(following);
    try {
      for (;;) {
        const is_dropped = !this.#line.has(following) && feed.isEmpty;
        if (is_dropped) return "caught_up";
        for (const said of await feed.next()) {
          if (said === "end") return "ended";
          if ("event" in said) yield said.event;
          else if (said.error instanceof ComeBack) return { after_ms: said.error.after_ms };
          else {
            const jump = jumpOf(said.error, resume);
            if (jump === null) throw said.error;
            yield jump;
            return "caught_up";
          }
        }
      }
    } finally {
      signal.removeEventListener("abort", abort);
      this.#line.abandon(following);
      this.#noticeIdle();
    }
  }

  onLeaseOver(listener: (over: LeaseOver) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async close(grace_ms: number): Promise<void> {
    const { surroundings, http } = this.#options;
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    this.#noticeIdle();
    const grace = pause(surroundings, grace_ms, this.#closed.signal).catch(() => {});
    await Promise.race([idle, grace]);
    this.#closed.abort(closedError());
    this.#line.close();
    await Promise.all([grace, http.close(0)]);
  }

  #noticeIdle(): void {
    if (this.#onIdle !== null && !this.#line.open().some(({ is_act }) => is_act)) this.#onIdle();
  }
}

function jumpOf(error: unknown, resume: Resume): StreamEvent | null {
  if (!(error instanceof HandoffError) || error.reason !== "cursor_too_old" || error.problem === null) return null;
  return resume.jump(error.problem);
}
