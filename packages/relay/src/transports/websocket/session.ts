/**
 * One connection, from its hello to its end, whatever socket is below it.
 *
 * States: greeting (its identity is not proven yet; frames that come after the hello wait) → open → finishing (the relay
 * stops or drains: what is in flight is still answered, nothing more is taken) → over (a close was sent, or the socket is gone).
 * What did not reach the peer by then is given back.
 */

import type { Surroundings } from "@handfast/engine";
import type { Caller } from "../../identity/caller.ts";
import type { Proven } from "../../identity/identity.ts";
import type { RelayLimits } from "../../limits.ts";
import { features } from "../../operations/about.ts";
import type { Operation } from "../../operations/operation.ts";
import type { Relay } from "../../operations/relay.ts";
import { Problem } from "../../problem.ts";
import type { Calls } from "../calls.ts";
import { problemDocument } from "../problem-document.ts";
import { Bearer } from "./bearer.ts";
import { type CloseReason, ConnectionEnd, closes, type Farewell, farewells, malformed } from "./connection-end.ts";
import { type Frame, readFrame } from "./frame.ts";
import { addProofs } from "./frame-proofs.ts";
import type { FrameListener, FrameSocket } from "./frame-socket.ts";
import { LeaseWatch } from "./lease-watch.ts";
import { OpenCalls, sizesOf } from "./open-calls.ts";
import { Outbox } from "./outbox.ts";
import { SessionCall } from "./session-call.ts";

export interface SessionOptions {
  readonly relay: Relay;
  readonly calls: Calls;
  readonly limits: RelayLimits;
  readonly surroundings: Surroundings;
  /** Where the peer comes from, for counting strangers. */
  readonly address: string;
  /** Its identity is proven: throws a Problem where this caller may not have another connection. */
  readonly greeted: (session: Session, caller: Caller) => void;
  readonly closed: (session: Session, code: number) => void;
  readonly warn: (error: unknown, message: string) => void;
}

type State = "greeting" | "open" | "finishing" | "over";

export class Session implements FrameListener {
  readonly limits: RelayLimits;
  readonly outbox: Outbox;
  readonly leases: LeaseWatch;
  readonly #options: SessionOptions;
  readonly #socket: FrameSocket;
  readonly #bearer: Bearer;
  readonly #open: OpenCalls;
  readonly #gone = new AbortController();
  /** That asked for work by this connection, the latest last. */
  readonly #workers = new Set<string>();
  /** Came after the hello and before it was judged. */
  readonly #early: Frame[] = [];
  readonly began_at: number;
  #state: State = "greeting";
  #is_closed = false;
  #is_paused = false;
  #heard_at: number;
  #pinged_at: number;
  #over_at = 0;
  #farewell: Farewell = "stopping";

  constructor(socket: FrameSocket, options: SessionOptions) {
    const { relay, limits, surroundings } = options;
    this.limits = limits;
    this.#options = options;
    this.#socket = socket;
    this.began_at = surroundings.now();
    this.#heard_at = this.began_at;
    this.#pinged_at = this.began_at;
    this.#bearer = new Bearer(relay);
    this.#open = new OpenCalls(limits, (call) => this.#run(call));
    this.outbox = new Outbox(socket, surroundings, limits);
    this.leases = new LeaseWatch({
      engine: relay.engine,
      namespace: relay.configuration.namespace,
      most: limits.ws_leases_watched,
      tell: (notice) => this.outbox.add("over", JSON.stringify(notice)),
    });
    socket.listen(this);
  }

  /** Aborts when the connection is over. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  get isOver(): boolean {
    return this.#state === "over";
  }

  /** Where the peer comes from. */
  get address(): string {
    return this.#options.address;
  }

  get saidHello(): boolean {
    return this.#bearer.saidHello;
  }

  /** Null until its hello was believed. */
  get caller(): Caller | null {
    return this.#bearer.caller;
  }

  frame(data: Uint8Array, isBinary: boolean): void {
    this.#heard_at = this.#options.surroundings.now();
    if (this.#state !== "open" && this.#state !== "greeting") return;
    try {
      this.#take(readFrame(data, isBinary, this.limits), data.length);
    } catch (error) {
      this.#fault(error);
    }
  }

  /** Also for its pings, whose answers wait to be written like everything else. */
  pong(): void {
    this.#heard_at = this.#options.surroundings.now();
    this.#regulate();
  }

  drained(): void {
    this.outbox.drained();
    this.#regulate();
  }

  closed(code: number): void {
    if (this.#is_closed) return;
    this.#is_closed = true;
    this.#leave();
    this.outbox.close();
    this.#options.closed(this, code);
  }

  #take(frame: Frame, bytes: number): void {
    if (frame.hello !== undefined && this.#bearer.saidHello) {
      throw malformed("second_hello", "The hello was said already; use authenticate.");
    }
    if (this.#state === "open") return this.#handle(frame, bytes);
    if (!this.#bearer.saidHello) this.#greet(frame);
    this.#early.push(frame);
  }

  #greet({ hello }: Frame): void {
    if (hello === undefined) {
      const detail = 'The first frame must say who you are: {"hello": {"credential": "…"}}.';
      throw new ConnectionEnd("identity", new Problem(401, "hello_missing", detail));
    }
    this.#bearer.prove(hello.credential).then(
      (proven) => this.#welcome(proven),
      (error: unknown) => this.#turnAway(error),
    );
    this.#regulate();
  }

  #turnAway(error: unknown): void {
    const { calls, address } = this.#options;
    try {
      calls.throttleStranger(address);
      this.#fault(new ConnectionEnd("identity", calls.problemOf(error, "hello")));
    } catch (too_fast) {
      this.#fault(new ConnectionEnd("too_many", calls.problemOf(too_fast, "hello")));
    }
  }

  #welcome(proven: Proven): void {
    if (this.#state !== "greeting") return;
    try {
      this.#options.greeted(this, proven.caller);
    } catch (error) {
      this.#fault(new ConnectionEnd("too_many", this.#options.calls.problemOf(error, "hello")));
      return;
    }
    this.#bearer.believe(proven);
    this.#state = "open";
    this.#socket.send(JSON.stringify({ hello: this.#hello(proven.caller) }));
    try {
      for (const frame of this.#early.splice(0)) if (!this.isOver) this.#handle(frame, 0);
    } catch (error) {
      this.#fault(error);
    }
    this.#regulate();
  }

  #hello({ namespace, name, role }: Caller) {
    const { relay, limits } = this.#options;
    return {
      protocol: "handfast.v1",
      agent: name,
      role,
      namespace,
      at: relay.engine.now(),
      expires_in_ms: this.#bearer.expires_in_ms,
      ping_ms: limits.ws_ping_ms,
      public_urls: relay.audience.all(),
      features,
      limits: {
        frame_bytes: limits.ws_frame_bytes,
        frame_calls: limits.ws_frame_calls,
        calls_in_flight: limits.ws_calls_in_flight,
        wait_ms: limits.ws_wait_ms,
      },
    };
  }

  #handle({ calls = [], signature, abandon = [], ping }: Frame, bytes: number): void {
    if (ping !== undefined) this.#socket.send(`{"pong":${ping}}`);
    for (const n of abandon) this.#open.abandon(n);
    this.#open.check(calls);
    if (signature !== undefined) addProofs(calls, signature, this.#options.relay.identity.signatures);
    const sizes = sizesOf(calls, bytes, this.limits.body_bytes);
    for (const [index, call] of calls.entries()) this.#open.begin(new SessionCall(this, call, sizes(index)));
    this.#regulate();
  }

  #run(call: SessionCall): void {
    this.#noteWorker(call.worker);
    const acted = this.leases.acting(call.op, call.handoff);
    const answered = call.op === "authenticate" ? this.#authenticate(call) : this.#options.calls.take(call.op, call);
    void answered.then(() => {
      acted?.(call.succeeded);
      this.#open.done(call);
      this.#regulate();
      if (this.#state === "finishing") this.#farewellIfIdle();
    });
  }

  /** One that is not known to be here is only thought to be live for longer. */
  #noteWorker(worker: string | null): void {
    if (worker !== null && this.#workers.size < this.limits.workers_per_agent) this.#workers.add(worker);
  }

  async #authenticate(call: SessionCall): Promise<void> {
    try {
      this.admit({ access: "caller" });
      await this.#bearer.renew(call.newCredential);
      const { expires_in_ms } = this.#bearer;
      call.answer(200, `,"body":${JSON.stringify({ expires_in_ms })}`);
    } catch (error) {
      call.refuse(this.#options.calls.problemOf(error, "authenticate"));
    }
  }

  /** Throws where this session's caller may not make the call now. */
  admit(operation: Pick<Operation, "access">): Caller {
    const { caller } = this.#bearer;
    if (caller === null) throw new Error("a call was begun before the hello");
    this.#options.calls.admit(operation, caller);
    return caller;
  }

  openStream(caller: string): () => void {
    const { calls, relay } = this.#options;
    const release = calls.in_flight.stream(caller);
    relay.metrics.streamOpened();
    return () => {
      release();
      relay.metrics.streamClosed();
    };
  }

  /** What the worker never got, it cannot work on: given back at once instead of waiting for the ack clock. */
  giveBack(undelivered: () => Promise<void>): void {
    undelivered().catch((error: unknown) => this.#options.warn(error, "leases could not be given back"));
  }

  /** Reads on, or not: what is in flight and what waits to be written are bounded. */
  #regulate(): void {
    if (this.isOver) return;
    const { ws_output_bytes, ws_in_flight_bytes } = this.limits;
    this.#options.calls.room.look();
    const is_proving = this.#state === "greeting" && this.#bearer.saidHello;
    const is_full = this.#open.bytes > ws_in_flight_bytes || this.outbox.bytes > ws_output_bytes;
    this.#pause(is_proving || is_full || this.#state === "finishing");
  }

  #pause(should_pause: boolean): void {
    if (should_pause === this.#is_paused) return;
    this.#is_paused = should_pause;
    if (should_pause) this.#socket.pause();
    else this.#socket.resume();
  }

  /** Looks at every time limit of this connection. */
  sweep(now: number): void {
    const { ws_hello_ms, ws_ping_ms, ws_drain_ms, ws_close_ms } = this.limits;
    if (this.isOver) {
      if (now - this.#over_at >= ws_close_ms) this.cut();
    } else if (this.#state === "greeting") {
      if (now - this.began_at >= ws_hello_ms) this.#end("hello_timeout", `No hello came within ${ws_hello_ms} ms.`);
    } else if (this.#bearer.expires_in_ms === 0) {
      const problem = new Problem(401, "credential_expired", "The credential has expired; connect with a new one.");
      this.#fault(new ConnectionEnd("identity", problem));
    } else if (this.outbox.stalled(now) >= ws_drain_ms) {
      this.#slow(ws_drain_ms);
    } else if (now - this.#heard_at >= 2 * ws_ping_ms && !this.#is_paused && this.outbox.bytes === 0) {
      // While it has something to take, the ping may be behind that, and the other clock runs.
      this.cut();
    } else if (now - Math.max(this.#heard_at, this.#pinged_at) >= ws_ping_ms) {
      this.#pinged_at = now;
      this.#socket.ping();
    }
  }

  /** Nobody looked for so long: that silence was not the peer's. */
  forgive(): void {
    this.#heard_at = this.#options.surroundings.now();
  }

  #slow(drain_ms: number): void {
    this.#options.relay.metrics.streamCut();
    this.#end(
      "slow_reader",
      `It took nothing for ${drain_ms} ms. Read faster, open another connection, and go on from the last ids.`,
    );
  }

  /** A key or token of its agent ended: whether it was the one of this connection is asked anew. */
  async recheck(): Promise<void> {
    try {
      await this.#bearer.recheck();
    } catch (error) {
      this.#fault(new ConnectionEnd("identity", this.#options.calls.problemOf(error, "hello")));
    }
  }

  /** Nothing more is taken: what waits is answered with what there is, what is in flight is finished, then it is closed. */
  finish(why: Farewell): void {
    if (this.isOver) return;
    this.#state = "finishing";
    this.#farewell = why;
    this.#options.calls.room.dismiss(this.outbox, farewells[why]());
    this.#regulate();
    this.#open.end();
    this.#farewellIfIdle();
  }

  #farewellIfIdle(): void {
    if (this.#open.size > 0 || this.isOver) return;
    this.outbox.flush();
    this.#close(this.#farewell);
  }

  #end(reason: "slow_reader" | "hello_timeout", detail: string): void {
    this.#fault(new ConnectionEnd(reason, new Problem(reason === "slow_reader" ? 429 : 401, reason, detail)));
  }

  #fault(error: unknown): void {
    if (this.isOver) return;
    if (!(error instanceof ConnectionEnd)) {
      this.#options.calls.problemOf(error, "frame");
      return this.cut();
    }
    // Replies that are ready say more than that it is over.
    if (error.reason !== "slow_reader") this.outbox.flush();
    this.#socket.send(JSON.stringify({ problem: problemDocument(error.problem).document }));
    this.#close(error.reason);
  }

  #close(reason: CloseReason): void {
    this.#leave();
    this.outbox.shut();
    this.#socket.close(closes[reason], reason);
    // It must be read to hear the peer's own close.
    this.#pause(false);
  }

  cut(): void {
    this.#leave();
    this.outbox.shut();
    this.#socket.terminate();
  }

  /** Nothing more is taken; whatever waits ends, and its answer goes nowhere. */
  #leave(): void {
    if (this.isOver) return;
    this.#state = "over";
    this.#over_at = this.#options.surroundings.now();
    this.leases.close();
    this.#gone.abort();
    this.#options.calls.room.leave(this.outbox);
    this.#open.end();
    const { caller } = this;
    if (caller === null) return;
    for (const worker of this.#workers) this.#options.relay.directory.left(caller.name, worker);
  }
}
