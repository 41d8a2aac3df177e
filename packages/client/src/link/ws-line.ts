/**
 * The line to the relay: open calls, and the connection that carries them. States: idle (nothing to say, no connection)
 * → connecting → connected → away (it broke or never came; tried again after a pause, as long as somebody waits)
 * → connected … → closed. Over a break every unanswered call is sent again as it was; one whose patience is over while
 * the line is away, or connected to a relay that says nothing, is told so.
 */

import type { Crypto } from "@handfast/protocol/client";
import { HandoffError, RelayUnreachable } from "../errors.ts";
import type { Identity } from "../identity/identity.ts";
import type { Surroundings } from "../surroundings.ts";
import { linkLimits } from "./limits.ts";
import type { LeaseOver } from "./link.ts";
import { closedError } from "./link-errors.ts";
import { backoff, ComeBack, NotReached } from "./persist.ts";
import { refusalOf } from "./refusal.ts";
import type { Hello, RelayFrame } from "./relay-frame.ts";
import type { OpenSocket } from "./web-socket.ts";
import { byteLength, callText, keyCount, type WsCall } from "./ws-call.ts";
import { type ConnectionEnd, WsConnection } from "./ws-connection.ts";
import { frameSignature, frameText } from "./ws-frame.ts";
import { WsOutbox } from "./ws-outbox.ts";
import { Patience } from "./ws-patience.ts";

export interface WsLineOptions {
  readonly url: string;
  readonly open: OpenSocket;
  readonly identity: Identity;
  readonly crypto: Crypto;
  readonly surroundings: Surroundings;
  readonly onOver: (over: LeaseOver) => void;
  readonly onConnection: (state: "away" | "back") => void;
  /** Told when the peer says what no relay says; not again until one has answered. */
  readonly onFault: (why: string) => void;
}

/** A new credential is sent when this much of the old one's life is over. */
const credential_used_share = 0.8;
/** The relay refused a frame: the same one would be refused again. */
const poisoned: ReadonlySet<number> = new Set([1009, 4400, 4413]);
/** The relay does not take the agent for who it says it is: that is so for every call. */
const identity_refused = 4401;
/** How often in a row the relay may send the agent away to register, or to make a new credential. */
const turned_away_most = 2;
/** A connection that breaks and is there again at once, as behind a gateway that restarts, is no absence. */
const failures_of_absence = 2;

export class WsLine {
  readonly #options: WsLineOptions;
  readonly #outbox = new WsOutbox();
  #connection: WsConnection | null = null;
  #is_closed = false;
  #is_flushing = false;
  #was_open = false;
  #is_missed = false;
  #is_fault_told = false;
  #last_n = 0;
  #failures = 0;
  #turned_away = 0;
  #needs_fresh = false;
  /** Since when nothing could be said, while somebody wants to. */
  #away_since: number | null = null;
  /** No connection came about since the last one was lost. */
  #first_try_until: number | null = null;
  /** How it stood before the connection that is open now, which has not answered anything yet. */
  #unproven: { readonly opened_at: number; readonly away_since: number | null; readonly failures: number } | null =
    null;
  #last_end: unknown = null;
  #last_ping = 1;
  #retry: (() => void) | null = null;
  readonly #patience: Patience;
  #callOffRenewal: () => void = () => {};

  constructor(options: WsLineOptions) {
    this.#options = options;
    this.#patience = new Patience(options.surroundings, (late) => this.#losePatience(late));
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
    if (this.#connection?.hello == null) this.#goAway();
    else this.#flushSoon();
    this.#patience.until(this.#dueAt(call));
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

  /** Makes sure that somebody tries to connect. */
  #goAway(): void {
    this.#beAwaySince(this.#options.surroundings.now());
    if (this.#connection === null && this.#retry === null) this.#connect();
  }

  #beAwaySince(at: number): void {
    if (this.#away_since !== null) return;
    this.#away_since = at;
    this.#first_try_until = this.#options.surroundings.now() + linkLimits.first_try_ms;
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
      const why = error instanceof Error ? error.message : String(error);
      void this.#ended({ code: 1006, why, problem: null, is_fault: false, silent_since: null });
    }
  }

  #opened({ expires_in_ms }: Hello): void {
    if (this.#was_open) this.#options.identity.returned?.();
    this.#was_open = true;
    if (this.#is_missed) this.#options.onConnection("back");
    this.#is_missed = false;
    const opened_at = this.#options.surroundings.now();
    this.#unproven = { opened_at, away_since: this.#away_since, failures: this.#failures };
    this.#failures = 0;
    this.#turned_away = 0;
    this.#needs_fresh = false;
    this.#away_since = null;
    this.#first_try_until = null;
    this.#watchPatience();
    this.#renewAfter(expires_in_ms);
    this.#hold();
    this.#flushSoon();
  }

  async #ended(end: ConnectionEnd): Promise<void> {
    const now = this.#options.surroundings.now();
    const was_open = this.#connection?.hello != null;
    this.#connection = null;
    this.#callOffRenewal();
    this.#last_end = new NotReached(end.problem?.detail ?? end.why);
    if (end.is_fault && !this.#is_fault_told) this.#options.onFault(end.why);
    this.#is_fault_told ||= end.is_fault;
    for (const call of this.#outbox.sent()) if (call.is_bound) this.#outbox.done(call);
    if (poisoned.has(end.code)) this.#refuse(end);
    this.#outbox.unsend();
    if (!was_open) this.#first_try_until = null;
    this.#recallFailures(now);
    if (this.#is_closed || this.#outbox.size === 0) return this.#rest();
    this.#failures += 1;
    this.#miss(end);
    this.#beAwaySince(end.silent_since ?? now);
    // Nothing else may connect until what the relay asks for is done.
    this.#retry = () => {};
    const pause_ms = await this.#mend(end);
    this.#retry = null;
    if (this.#is_closed || this.#outbox.size === 0) return this.#rest();
    this.#watchPatience();
    this.#retryAfter(pause_ms);
  }

  /** A hello alone mends nothing: a connection that ended soon after it, without an answer, counts as none. */
  #recallFailures(now: number): void {
    const before = this.#unproven;
    this.#unproven = null;
    if (before === null || now - before.opened_at >= linkLimits.useful_after_ms) return;
    this.#failures = before.failures;
    if (before.away_since === null) return;
    this.#away_since = before.away_since;
    this.#first_try_until = null;
  }

  /** Which call the relay does not take is told that; where it may be any of many, each is tried alone. */
  #refuse(end: ConnectionEnd): void {
    const refused = this.#outbox.refused();
    if (refused !== null) this.#fail([refused], refusedError(end, refused.handoff));
  }

  /** A relay that was there and says why it ends the connection is not away. */
  #miss({ problem, is_fault }: ConnectionEnd): void {
    const is_away = this.#was_open && problem === null && !is_fault && this.#failures >= failures_of_absence;
    if (!is_away || this.#is_missed) return;
    this.#is_missed = true;
    this.#options.onConnection("away");
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
  async #mend({ code, problem }: ConnectionEnd): Promise<number> {
    const { surroundings, identity } = this.#options;
    const pause_ms = backoff(this.#failures - 1, surroundings);
    if (problem === null) return pause_ms;
    const refusal = refusalOf(problem, null, 0);
    if (refusal.kind === "final") {
      if (refusal.error instanceof ComeBack) return Math.max(1_000, pause_ms);
      if (code === identity_refused) this.#fail(this.#outbox.all(), refusal.error);
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

  // Patience

  /** When something must be done about it: its patience is over, or the connection is to be given up for it. */
  #dueAt(call: WsCall): number {
    return Math.min(this.#patientUntil(call), this.#answeredUntil(call));
  }

  /** However small its patience, a call gets a first try. A wait is over only when the connection is. */
  #patientUntil({ began_at, patience_ms, is_act }: WsCall): number {
    const connection = this.#connection;
    if (connection?.hello != null) {
      if (!is_act) return Number.POSITIVE_INFINITY;
      return Math.max(began_at, connection.heard_at) + Math.max(patience_ms, linkLimits.first_try_ms);
    }
    return Math.max(Math.max(began_at, this.#away_since ?? 0) + patience_ms, this.#first_try_until ?? 0);
  }

  #answeredUntil({ began_at, answer_ms = Number.POSITIVE_INFINITY }: WsCall): number {
    const connection = this.#connection;
    if (connection === null) return Number.POSITIVE_INFINITY;
    const least_ms = connection.hello === null ? linkLimits.opening_least_ms : 0;
    return Math.max(began_at, connection.heard_at) + Math.max(answer_ms, least_ms);
  }

  #watchPatience(): void {
    let earliest = Number.POSITIVE_INFINITY;
    for (const call of this.#outbox.all()) earliest = Math.min(earliest, this.#dueAt(call));
    this.#patience.reset(earliest);
  }

  #losePatience(is_late: boolean): void {
    const { url, surroundings } = this.#options;
    if (is_late) this.#connection?.forgiveSilence();
    const now = surroundings.now();
    for (const call of this.#outbox.all()) {
      if (this.#patientUntil(call) > now) continue;
      const error = new RelayUnreachable(url, call.patience_ms, this.#last_end ?? undefined);
      if (this.#outbox.abandon(call)) call.reject(error);
    }
    this.#hold();
    if (this.#outbox.size === 0 && this.#connection === null) {
      this.#retry?.();
      return this.#rest();
    }
    if (this.#outbox.all().some((call) => this.#answeredUntil(call) <= now)) {
      return this.#connection?.drop("the relay did not answer in time");
    }
    this.#watchPatience();
  }

  #fail(calls: readonly WsCall[], error: unknown): void {
    for (const call of calls) if (this.#outbox.done(call)) call.reject(error);
    this.#hold();
  }

  /** Nobody waits: nothing is tried until somebody does. */
  #rest(): void {
    this.#away_since = null;
    this.#first_try_until = null;
    this.#failures = 0;
    this.#patience.reset(Number.POSITIVE_INFINITY);
  }

  #hold(): void {
    const is_wanted = this.#outbox.size > 0;
    if (!is_wanted) this.#patience.reset(Number.POSITIVE_INFINITY);
    this.#connection?.hold(is_wanted);
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
    const { crypto, identity } = this.#options;
    const connection = this.#connection;
    while (connection !== null && this.#connection === connection && connection.hello !== null) {
      const { calls, abandoned, is_trial } = this.#outbox.next(connection.hello);
      if (calls.length === 0 && abandoned.length === 0) break;
      try {
        const documents = calls.flatMap((call) => call.documents);
        // A frame without documents leaves at once: it waits for no promise.
        const signature = documents.length === 0 ? null : await frameSignature(crypto, identity, documents);
        if (this.#connection !== connection) continue;
        if (is_trial) this.#last_ping += 1;
        const ping = is_trial ? this.#last_ping : null;
        connection.send(frameText(connection.hello, { calls, abandoned, ping, signature }));
      } catch (error) {
        this.#fail(calls, error);
        if (is_trial) this.#outbox.taken();
      }
    }
    this.#is_flushing = false;
    // Another connection may have come while a signature was made, and found this one busy.
    if (this.#connection !== connection) this.#flushSoon();
  }

  // Receiving

  #receive({ replies = [], events = [], over = [], pong }: RelayFrame): void {
    if (replies.length > 0 || events.length > 0) {
      this.#unproven = null;
      this.#is_fault_told = false;
    }
    // The pong comes when the frame was taken, before anything in it is done.
    if (pong === this.#last_ping) this.#outbox.taken();
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
    for (const each of over) this.#options.onOver(each);
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
    const text = callText("authenticate", JSON.stringify({ body: { credential } }));
    this.add({
      n: this.nextNumber(),
      is_vital: true,
      is_act: false,
      is_bound: true,
      text: () => text,
      bytes: byteLength(text),
      keys: keyCount(text),
      handoff: null,
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

function refusedError({ problem, why }: ConnectionEnd, handoff: string | null): HandoffError {
  if (problem !== null) return HandoffError.from(problem, handoff);
  return new HandoffError({ code: 400, reason: "malformed", message: why, retryable: false, handoff });
}
