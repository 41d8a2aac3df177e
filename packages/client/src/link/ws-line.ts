/**
 * The line to the relay: open calls, and the connection that carries them. States: idle (nothing to say, no connection)
 * → connecting → connected → away (it broke or never came; tried again after a pause, as long as somebody waits)
 * → connected … → closed. Over a break every unanswered call is sent again as it was; one whose patience is over while
 * the line is away is told so.
 */

import { type Crypto, signBatch, toUtf8 } from "@handfast/protocol";
import { HandoffError, RelayUnreachable } from "../errors.ts";
import type { Identity } from "../identity/identity.ts";
import type { Surroundings } from "../surroundings.ts";
import { linkLimits } from "./limits.ts";
import type { LeaseOver } from "./link.ts";
import { closedError } from "./link-errors.ts";
import { backoff, ComeBack, NotReached } from "./persist.ts";
import { refusalOf } from "./refusal.ts";
import type { OpenSocket } from "./web-socket.ts";
import { callText, type WsCall } from "./ws-call.ts";
import { type ConnectionEnd, type Hello, type RelayFrame, WsConnection } from "./ws-connection.ts";
import { WsOutbox } from "./ws-outbox.ts";

export interface WsLineOptions {
  readonly url: string;
  readonly open: OpenSocket;
  readonly identity: Identity;
  readonly crypto: Crypto;
  readonly surroundings: Surroundings;
  readonly onOver: (over: LeaseOver) => void;
}

/** A new credential is sent when this much of the old one's life is over. */
const credential_used_share = 0.8;
/** The same frame would be refused again: what was in flight is told instead. */
const poisoned: ReadonlySet<number> = new Set([1009, 4400, 4413]);
/** How often in a row the relay may send the agent away to register, or to make a new credential. */
const turned_away_most = 2;

export class WsLine {
  readonly #options: WsLineOptions;
  readonly #outbox = new WsOutbox();
  #connection: WsConnection | null = null;
  #is_closed = false;
  #is_flushing = false;
  #was_open = false;
  #last_n = 0;
  #failures = 0;
  #turned_away = 0;
  #needs_fresh = false;
  /** Since when nothing could be said, while somebody wants to. */
  #away_since: number | null = null;
  #last_end: unknown = null;
  #retry: (() => void) | null = null;
  #patience: { readonly at: number; readonly callOff: () => void } | null = null;
  #callOffRenewal: () => void = () => {};

  constructor(options: WsLineOptions) {
    this.#options = options;
  }

  nextNumber(): number {
    this.#last_n += 1;
    return this.#last_n;
  }

  /** Whether it is still open. */
  has(call: WsCall): boolean {
    return this.#outbox.get(call.n) === call;
  }

  open(): readonly WsCall[] {
    return this.#outbox.all();
  }

  add(call: WsCall): void {
    if (this.#is_closed) return call.reject(closedError());
    this.#outbox.add(call);
    if (this.#connection?.hello == null) this.#goAway(call);
    else this.#flushSoon();
    this.#hold();
  }

  /** Nobody waits for it any more. */
  abandon(call: WsCall): void {
    if (!this.has(call)) return;
    this.#outbox.abandon(call);
    this.#hold();
    this.#flushSoon();
  }

  close(): void {
    if (this.#is_closed) return;
    this.#is_closed = true;
    this.#retry?.();
    this.#fail(this.#outbox.all(), closedError());
    this.#connection?.end("the client was closed");
    this.#rest();
  }

  // Connecting

  /** Makes sure that somebody tries to connect, and that nobody waits for it longer than its patience. */
  #goAway(call: WsCall): void {
    this.#away_since ??= this.#options.surroundings.now();
    // Most have the same patience: one that came later loses it later.
    if (this.#patience === null || this.#patientUntil(call) < this.#patience.at) this.#watchPatience();
    if (this.#connection === null && this.#retry === null) this.#connect();
  }

  #connect(): void {
    const { url, open, identity, surroundings } = this.#options;
    const authorization = () => identity.authorization(this.#needs_fresh);
    try {
      const connection = new WsConnection(url, open, authorization, surroundings, {
        opened: (hello) => this.#opened(hello),
        frame: (frame) => this.#receive(frame),
        ended: (end) => {
          if (this.#connection === connection || this.#connection === null) void this.#ended(end);
        },
      });
      this.#connection = connection;
    } catch (error) {
      void this.#ended({ code: 1006, why: error instanceof Error ? error.message : String(error), problem: null });
    }
  }

  #opened({ expires_in_ms }: Hello): void {
    if (this.#was_open) this.#options.identity.returned?.();
    this.#was_open = true;
    this.#failures = 0;
    this.#turned_away = 0;
    this.#needs_fresh = false;
    this.#away_since = null;
    this.#patience?.callOff();
    this.#patience = null;
    this.#renewAfter(expires_in_ms);
    this.#hold();
    this.#flushSoon();
  }

  async #ended(end: ConnectionEnd): Promise<void> {
    const sent = this.#outbox.sent();
    this.#connection = null;
    this.#callOffRenewal();
    this.#last_end = new NotReached(end.problem?.detail ?? end.why);
    for (const call of sent) if (call.is_bound) this.#outbox.done(call);
    if (poisoned.has(end.code)) this.#fail(sent, this.#asError(end));
    this.#outbox.unsend();
    if (this.#is_closed || this.#outbox.size === 0) return this.#rest();
    this.#failures += 1;
    // Nothing else may connect until what the relay asks for is done.
    this.#retry = () => {};
    const pause_ms = await this.#mend(end);
    this.#retry = null;
    if (this.#is_closed || this.#outbox.size === 0) return this.#rest();
    this.#away_since ??= this.#options.surroundings.now();
    this.#watchPatience();
    this.#retryAfter(pause_ms);
  }

  #retryAfter(ms: number): void {
    const callOff = this.#options.surroundings.after(
      ms,
      () => {
        this.#retry = null;
        if (!this.#is_closed && this.#outbox.size > 0) this.#connect();
      },
      true,
    );
    this.#retry = () => {
      callOff();
      this.#retry = null;
    };
  }

  /** Does what the relay asks for before it lets the agent in; how long to wait then. What cannot be mended is told. */
  async #mend({ problem }: ConnectionEnd): Promise<number> {
    const { surroundings, identity } = this.#options;
    const pause_ms = backoff(this.#failures - 1, surroundings);
    if (problem === null) return pause_ms;
    const refusal = refusalOf(problem, null, 0);
    if (refusal.kind === "final") {
      if (refusal.error instanceof ComeBack) return Math.max(1_000, pause_ms);
      if (problem.code < 500) this.#fail(this.#outbox.all(), refusal.error);
      return pause_ms;
    }
    this.#turned_away += 1;
    if (this.#turned_away > turned_away_most) {
      this.#turned_away = 0;
      this.#fail(this.#outbox.all(), refusal.error);
      return pause_ms;
    }
    this.#needs_fresh = true;
    if (refusal.kind === "stale_credential") return 0;
    try {
      await identity.readmit();
      return 0;
    } catch (error) {
      if (error instanceof HandoffError) this.#fail(this.#outbox.all(), error);
      return pause_ms;
    }
  }

  #asError({ problem, why }: ConnectionEnd): Error {
    return problem === null
      ? new HandoffError({ code: 400, reason: "malformed", message: why, retryable: false })
      : HandoffError.from(problem);
  }

  // Patience

  #watchPatience(): void {
    if (this.#away_since === null) return;
    const { surroundings } = this.#options;
    let earliest = Number.POSITIVE_INFINITY;
    for (const call of this.#outbox.all()) earliest = Math.min(earliest, this.#patientUntil(call));
    if (earliest === this.#patience?.at || !Number.isFinite(earliest)) return;
    this.#patience?.callOff();
    const callOff = surroundings.after(Math.max(1, earliest - surroundings.now()), () => this.#loseThePatience(), true);
    this.#patience = { at: earliest, callOff };
  }

  /** However small its patience, a call gets a first try to connect. */
  #patientUntil({ began_at, patience_ms }: WsCall): number {
    const least_ms = this.#failures === 0 ? linkLimits.first_try_ms : 0;
    return Math.max(began_at, this.#away_since ?? began_at) + Math.max(patience_ms, least_ms);
  }

  #loseThePatience(): void {
    this.#patience = null;
    const { url, surroundings } = this.#options;
    const now = surroundings.now();
    for (const call of this.#outbox.all()) {
      if (this.#patientUntil(call) > now) continue;
      this.#fail([call], new RelayUnreachable(url, call.patience_ms, this.#last_end ?? undefined));
    }
    if (this.#outbox.size > 0) return this.#watchPatience();
    this.#retry?.();
    this.#rest();
  }

  #fail(calls: readonly WsCall[], error: unknown): void {
    for (const call of calls) if (this.#outbox.done(call)) call.reject(error);
    this.#hold();
  }

  /** Nobody waits: nothing is tried until somebody does. */
  #rest(): void {
    this.#away_since = null;
    this.#failures = 0;
    this.#patience?.callOff();
    this.#patience = null;
  }

  #hold(): void {
    this.#connection?.hold(this.#outbox.size > 0);
  }

  // Sending

  /** Whatever else this turn of the event loop brings goes into the same frame. */
  #flushSoon(): void {
    if (this.#is_flushing || !this.#outbox.isWaiting) return;
    this.#is_flushing = true;
    const flush = () => void this.#flush();
    if (typeof setImmediate === "function") setImmediate(flush);
    else queueMicrotask(flush);
  }

  async #flush(): Promise<void> {
    const connection = this.#connection;
    try {
      while (connection !== null && this.#connection === connection && connection.hello !== null) {
        const { calls, abandoned } = this.#outbox.next(connection.hello);
        if (calls.length === 0 && abandoned.length === 0) return;
        const frame = await this.#frame(calls, abandoned);
        if (this.#connection === connection) connection.send(frame);
      }
    } catch (error) {
      this.#fail(this.#outbox.sent(), error);
    } finally {
      this.#is_flushing = false;
    }
  }

  async #frame(calls: readonly WsCall[], abandoned: readonly number[]): Promise<string> {
    const members: string[] = [];
    if (abandoned.length > 0) members.push(`"abandon":[${abandoned.join(",")}]`);
    const documents = calls.flatMap((call) => call.documents);
    if (calls.length > 0) members.push(`"calls":[${calls.map((call) => `{"n":${call.n},${call.text()}`).join(",")}]`);
    const { crypto, identity } = this.#options;
    if (documents.length > 0 && identity.signer !== null) {
      const messages = documents.map(({ typ, document }) => ({ typ, bytes: toUtf8(document) }));
      const [proof] = await signBatch(crypto, identity.signer, messages);
      if (proof !== undefined) members.push(`"signature":${JSON.stringify({ key: proof.key, sig: proof.sig })}`);
    }
    return `{${members.join(",")}}`;
  }

  // Receiving

  #receive({ replies = [], events = [], over = [] }: RelayFrame): void {
    for (const { n, event, id, data } of events) {
      const call = this.#outbox.get(n);
      if (call === undefined) continue;
      if (event === "end") this.#outbox.done(call);
      call.event(id === undefined ? { event, data } : { event, id, data });
    }
    for (const reply of replies) {
      const call = this.#outbox.get(reply.n);
      if (call === undefined) continue;
      this.#outbox.done(call);
      call.reply(reply);
    }
    for (const each of over) this.#options.onOver(each as LeaseOver);
    this.#hold();
    // An answer may have made room for calls that wait.
    this.#flushSoon();
  }

  // Re-authentication

  #renewAfter(expires_in_ms: number | null): void {
    this.#callOffRenewal();
    if (expires_in_ms === null) return;
    const after_ms = Math.max(1_000, expires_in_ms * credential_used_share);
    this.#callOffRenewal = this.#options.surroundings.after(after_ms, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const connection = this.#connection;
    const credential = await this.#options.identity.authorization(true);
    if (connection === null || this.#connection !== connection) return;
    const text = callText("authenticate", { body: { credential } as never });
    this.add({
      n: this.nextNumber(),
      is_vital: true,
      is_act: false,
      is_bound: true,
      text: () => text,
      bytes: text.length,
      documents: [],
      began_at: this.#options.surroundings.now(),
      patience_ms: Number.POSITIVE_INFINITY,
      reply: ({ body, problem }) => {
        const { expires_in_ms = null } = (body ?? {}) as { readonly expires_in_ms?: number | null };
        // Whatever is wrong with it, a new hello says it better.
        if (problem !== undefined) connection.end("the relay did not take a new credential");
        else this.#renewAfter(expires_in_ms);
      },
      event: () => {},
      reject: () => {},
    });
  }
}
