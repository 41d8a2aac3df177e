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
import { backoff, ComeBack, pause, persist } from "./persist.ts";
import { isProblem, refusalOf } from "./refusal.ts";
import type { Reply as WsReply } from "./relay-frame.ts";
import { Resume } from "./resume.ts";
import { waitFor } from "./wait-for.ts";
import type { OpenSocket } from "./web-socket.ts";
import { byteLength, callText, checkStrict, isVital, keyCount, signedBody, type WsCall } from "./ws-call.ts";
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

type Once = Pick<WsCall, "bytes" | "keys" | "handoff" | "documents" | "patience_ms" | "answer_ms"> & {
  readonly name: OperationName;
  readonly text: string;
  readonly wait_ms: number;
  readonly signal: AbortSignal;
};

/** Text and bytes of any size, which do not belong between calls. */
const overHttp: ReadonlySet<OperationName> = new Set(["put_artifact", "get_artifact", "log", "metrics", "openapi"]);
/** A call that is larger goes over HTTP, which has room for a whole batch. */
const call_bytes_most = linkLimits.frame_bytes - 100_000;
/** What a wait adds to a call. */
const wait_bytes = 32;

export class WsLink implements Link {
  readonly #options: WsLinkOptions;
  readonly #line: WsLine;
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
  }

  async call<Name extends OperationName>(
    name: Name,
    call: Call<Name>,
    options: CallOptions = {},
  ): Promise<Reply<Name>> {
    if (overHttp.has(name)) return this.#options.http.call(name, call, options);
    checkStrict(call);
    return this.#send(name, call, [], options, () => this.#options.http.call(name, call, options));
  }

  async sign<Name extends OperationName>(
    name: Name,
    { params }: Pick<Call<Name>, "params">,
    unsigned: Unsigned,
    options: CallOptions = {},
  ): Promise<Reply<Name>> {
    if (this.#options.identity.signer === null) throw cannotSign();
    const call = { ...(params === undefined ? {} : { params }), body: signedBody(unsigned) } as unknown as Call<Name>;
    return this.#send(name, call, [unsigned], options, () =>
      this.#options.http.sign(name, params === undefined ? {} : { params }, unsigned, options),
    );
  }

  async signBatch(unsigned: readonly Unsigned[], options: CallOptions = {}): Promise<Reply<"submit_batch">> {
    if (this.#options.identity.signer === null) throw cannotSign();
    const call = { body: { handoffs: unsigned.map(signedBody) } } as unknown as Call<"submit_batch">;
    return this.#send("submit_batch", call, unsigned, options, () => this.#options.http.signBatch(unsigned, options));
  }

  async #send<Name extends OperationName>(
    name: Name,
    call: Call<Name>,
    documents: readonly Unsigned[],
    options: CallOptions,
    otherwise: () => Promise<Reply<Name>>,
  ): Promise<Reply<Name>> {
    const { surroundings, url } = this.#options;
    const { patience_ms = this.#options.patience_ms, answer_ms, traceparent, wait_ms: whole_wait_ms = 0 } = options;
    const joined = joinSignals(options.signal, this.#closed.signal);
    const { signal } = joined;
    const persistence = { url, surroundings, patience_ms, signal };
    try {
      signal.throwIfAborted();
      const once = callText(name, call, { traceparent });
      const [bytes, keys] = [byteLength(once), keyCount(once)];
      if (bytes > call_bytes_most) return await otherwise();
      const handoff = idOf(call.params);
      return await waitFor(name, call, whole_wait_ms, surroundings, signal, (wait_ms) => {
        const text = wait_ms === 0 ? once : callText(name, call, { traceparent, wait_ms });
        return persist(persistence, () =>
          this.#known(handoff, () =>
            this.#once({
              name,
              text,
              bytes: bytes + wait_bytes,
              keys: keys + 1,
              handoff,
              documents,
              wait_ms,
              patience_ms,
              answer_ms,
              signal,
            }),
          ),
        );
      });
    } finally {
      joined.release();
    }
  }

  /** Once more after registering, where the relay does not know the agent. */
  async #known<Value>(handoff: string | null, send: () => Promise<WsReply>): Promise<Value> {
    for (let tries = 1; ; tries++) {
      const { body, problem, retry_after_ms = 0, status } = await send();
      if (problem === undefined) return body as Value;
      if (!isProblem(problem)) throw new Error(`The relay answered ${status} without saying why.`);
      const refusal = refusalOf(problem, handoff, retry_after_ms);
      if (refusal.kind !== "unknown_agent" || tries > 1) throw refusal.error;
      await this.#options.identity.readmit();
    }
  }

  #once({ name, wait_ms, text, signal, ...rest }: Once): Promise<WsReply> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#line.abandon(call);
        settle(() => reject(signal.reason));
      };
      const settle = (settled: () => void) => {
        signal.removeEventListener("abort", abort);
        settled();
        this.#noticeIdle();
      };
      const call: WsCall = {
        n: this.#line.nextNumber(),
        is_vital: isVital(name),
        is_act: wait_ms === 0,
        is_bound: false,
        text: () => text,
        ...rest,
        began_at: this.#options.surroundings.now(),
        reply: (reply) => settle(() => resolve(reply)),
        event: () => {},
        reject: (error) => settle(() => reject(error)),
      };
      signal.addEventListener("abort", abort, { once: true });
      this.#line.add(call);
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
      return callText(name, asked, { stream: true, last_event_id });
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
