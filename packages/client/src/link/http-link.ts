/** The link over HTTP: a request for each call, server-sent events for streams, one signature for the documents of a tick. */

import type { Crypto } from "@handfast/protocol";
import type { OperationName, Operations } from "@handfast/protocol/wire";
import { HandoffError } from "../errors.ts";
import type { Identity } from "../identity/identity.ts";
import type { Surroundings } from "../surroundings.ts";
import { joinSignals } from "./any-signal.ts";
import { type ExchangeOptions, type HttpExchange, type OpenStream, Refused } from "./http-exchange.ts";
import type { Call, CallOptions, LeaseOver, Link, StreamEvent, StreamName, Unsigned } from "./link.ts";
import { cannotSign, closedError, idOf } from "./link-errors.ts";
import { answerWithin, backoff, NotReached, type Persistence, pause, persist } from "./persist.ts";
import { refusalOf } from "./refusal.ts";
import { Resume } from "./resume.ts";
import { SigningQueue } from "./signing-queue.ts";
import { SseReader } from "./sse.ts";
import { waitFor } from "./wait-for.ts";

export interface HttpLinkOptions {
  readonly exchange: HttpExchange;
  readonly identity: Identity;
  readonly crypto: Crypto;
  readonly surroundings: Surroundings;
  readonly patience_ms: number;
  /** Told when the relay goes away, and when it is back. */
  readonly onConnection?: (state: "away" | "back") => void;
}

type Reply<Name extends OperationName> = Operations[Name]["reply"];

export class HttpLink implements Link {
  readonly #options: HttpLinkOptions;
  readonly #signing: SigningQueue | null;
  readonly #closed = new AbortController();
  /** Calls that were sent and do not merely wait: close() lets them finish. */
  readonly #acts = new Set<Promise<unknown>>();
  #was_away = false;

  constructor(options: HttpLinkOptions) {
    this.#options = options;
    const { signer } = options.identity;
    this.#signing = signer === null ? null : new SigningQueue(options.crypto, signer);
  }

  call<Name extends OperationName>(name: Name, call: Call<Name>, options: CallOptions = {}): Promise<Reply<Name>> {
    const made = this.#waitFor(name, call, options);
    if ((options.wait_ms ?? 0) > 0) return made;
    const settled = made.then(
      () => {},
      () => {},
    );
    this.#acts.add(settled);
    void settled.then(() => this.#acts.delete(settled));
    return made;
  }

  async sign<Name extends OperationName>(
    name: Name,
    { params }: Pick<Call<Name>, "params">,
    unsigned: Unsigned,
    options?: CallOptions,
  ): Promise<Reply<Name>> {
    options?.signal?.throwIfAborted();
    const body = await this.#signed(unsigned);
    return this.call(name, { ...(params === undefined ? {} : { params }), body } as unknown as Call<Name>, options);
  }

  async signBatch(unsigned: readonly Unsigned[], options?: CallOptions): Promise<Reply<"submit_batch">> {
    options?.signal?.throwIfAborted();
    const handoffs = await Promise.all(unsigned.map((each) => this.#signed(each)));
    return this.call("submit_batch", { body: { handoffs } }, options);
  }

  async #signed({ document, payload, payload_encoding, ...rest }: Unsigned) {
    if (this.#signing === null) throw cannotSign();
    const proof = await this.#signing.sign({ ...rest, document });
    return {
      signed: {
        document,
        proof,
        ...(payload === undefined ? {} : { payload }),
        ...(payload_encoding === undefined ? {} : { payload_encoding }),
      },
    };
  }

  async #waitFor<Name extends OperationName>(name: Name, call: Call<Name>, options: CallOptions): Promise<Reply<Name>> {
    const { surroundings } = this.#options;
    const { wait_ms: whole_wait_ms = 0, traceparent, minimal } = options;
    const joined = joinSignals(options.signal, this.#closed.signal);
    const { signal } = joined;
    try {
      return await waitFor(name, call, whole_wait_ms, surroundings, signal, (wait_ms) =>
        persist(this.#persistence(options, signal), () =>
          this.#authorized(
            { wait_ms, traceparent, minimal, signal, answer_ms: this.#answerWithin(options) },
            idOf(call.params),
            (known) => this.#options.exchange.once(name, call, known),
          ),
        ),
      );
    } finally {
      joined.release();
    }
  }

  /** With a credential; once more with a new one, or after registering, where the relay asks for that. */
  async #authorized<Value>(
    exchange: ExchangeOptions,
    handoff: string | null,
    send: (known: ExchangeOptions) => Promise<Value>,
  ): Promise<Value> {
    const { identity } = this.#options;
    let fresh = false;
    for (let tries = 1; ; tries++) {
      try {
        const answer = await send({ ...exchange, authorization: await identity.authorization(fresh) });
        if (this.#was_away) {
          this.#was_away = false;
          identity.returned?.();
          this.#options.onConnection?.("back");
        }
        return answer;
      } catch (error) {
        if (error instanceof NotReached && !this.#was_away) {
          this.#was_away = true;
          this.#options.onConnection?.("away");
        }
        if (!(error instanceof Refused)) throw error;
        const refusal = refusalOf(error.problem, handoff, error.retry_after_ms);
        if (refusal.kind === "final" || tries > 2) throw refusal.error;
        if (refusal.kind === "unknown_agent") await identity.readmit();
        else if (fresh) throw refusal.error;
        fresh = true;
      }
    }
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
        const opened = await this.#open(name, call, options, resume, joined.signal);
        if ("event" in opened) {
          yield opened;
          continue;
        }
        try {
          for await (const event of readEvents(opened)) {
            if (event.event === "end") return;
            if (event.event === "cut") break;
            breaks = 0;
            const taken = resume.take(event);
            if (taken !== null) yield taken;
          }
        } catch (error) {
          joined.signal.throwIfAborted();
          if (!(error instanceof NotReached)) throw error;
        } finally {
          opened.close();
        }
        await pause(surroundings, backoff(++breaks, surroundings), joined.signal);
      }
    } finally {
      joined.release();
    }
  }

  /** An open stream; or the event that stands for what the log no longer has. */
  async #open<Name extends StreamName>(
    name: Name,
    { params, query }: Pick<Call<Name>, "params" | "query">,
    options: Pick<CallOptions, "patience_ms">,
    resume: Resume,
    signal: AbortSignal,
  ): Promise<OpenStream | StreamEvent> {
    const asked = resume.query(query);
    const call = { ...(params === undefined ? {} : { params }), ...(asked === undefined ? {} : { query: asked }) };
    try {
      return await persist(this.#persistence(options, signal), () =>
        this.#authorized({ signal, answer_ms: this.#answerWithin(options) }, idOf(params), (known) =>
          this.#options.exchange.open(name, call as Call<Name>, { ...known, last_event_id: resume.last_event_id }),
        ),
      );
    } catch (error) {
      const problem = error instanceof HandoffError && error.reason === "cursor_too_old" ? error.problem : null;
      const jump = problem === null ? null : resume.jump(problem);
      if (jump === null) throw error;
      return jump;
    }
  }

  /** HTTP has no way to be told. */
  onLeaseOver(_listener: (over: LeaseOver) => void): () => void {
    return () => {};
  }

  async close(grace_ms: number): Promise<void> {
    const grace = pause(this.#options.surroundings, grace_ms, this.#closed.signal).catch(() => {});
    await Promise.race([Promise.all(this.#acts), grace]);
    this.#closed.abort(closedError());
    await grace;
  }

  #answerWithin(options: Pick<CallOptions, "patience_ms" | "answer_ms">): number {
    const { patience_ms = this.#options.patience_ms, answer_ms = Number.POSITIVE_INFINITY } = options;
    return Math.min(answer_ms, answerWithin(patience_ms));
  }

  #persistence(
    { patience_ms = this.#options.patience_ms }: Pick<CallOptions, "patience_ms">,
    signal: AbortSignal,
  ): Persistence {
    const { exchange, surroundings } = this.#options;
    return { url: exchange.url, surroundings, patience_ms, signal };
  }
}

async function* readEvents({ pieces }: OpenStream): AsyncGenerator<StreamEvent> {
  const reader = new SseReader();
  for await (const piece of pieces) yield* reader.read(piece);
}
