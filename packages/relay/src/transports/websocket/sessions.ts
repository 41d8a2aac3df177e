/** Every WebSocket of the relay: how many there may be, when each must have said or taken something, and their end. */

import type { Surroundings } from "@handfast/engine";
import type { Logger } from "pino";
import type { Caller } from "../../identity/caller.ts";
import type { RelayLimits } from "../../limits.ts";
import type { Relay } from "../../operations/relay.ts";
import { Problem } from "../../problem.ts";
import { Tally } from "../../tally.ts";
import type { Calls } from "../calls.ts";
import { type Farewell, farewells } from "./connection-end.ts";
import type { FrameSocket } from "./frame-socket.ts";
import { Session } from "./session.ts";
import { Strangers } from "./strangers.ts";

export interface WebSocketSessionsOptions {
  readonly relay: Relay;
  readonly calls: Calls;
  readonly limits: RelayLimits;
  readonly log: Logger;
  readonly surroundings: Surroundings;
}

export class WebSocketSessions {
  readonly #options: WebSocketSessionsOptions;
  readonly #sessions = new Set<Session>();
  readonly #by_caller = new Tally();
  readonly #uncount = new Map<Session, () => void>();
  readonly #strangers: Strangers;
  readonly #whenEmpty: (() => void)[] = [];
  readonly #stopRevocations: () => void;
  /** Why no connection is taken, and those there are end; null: they are. */
  #farewell: Farewell | null = null;
  #swept_at = 0;
  #cancelSweep: (() => void) | null = null;

  constructor(options: WebSocketSessionsOptions) {
    this.#options = options;
    this.#strangers = new Strangers(options.limits);
    this.#stopRevocations = options.relay.identity.onRevoked((agent) => this.#recheck(agent));
  }

  /** Throws a Problem where no further connection is taken now. */
  checkRoom(): void {
    const { ws_connections } = this.#options.limits;
    if (this.#farewell !== null) throw farewells[this.#farewell]();
    if (this.#by_caller.total < ws_connections) return;
    throw new Problem(429, "too_many_connections", "The relay has as many connections as it takes.", {}, 5);
  }

  /** Serves a socket that is open. `address` tells strangers apart. */
  accept(socket: FrameSocket, address = "in-process"): Session {
    const { relay, calls, limits, surroundings, log } = this.#options;
    const session: Session = new Session(socket, {
      relay,
      calls,
      limits,
      surroundings,
      address,
      greeted: (greeted, caller) => this.#greeted(greeted, caller),
      closed: (closed, code) => this.#closed(closed, code),
      warn: (error, message) => log.warn({ err: error }, message),
    });
    this.#sessions.add(session);
    this.#strangers.add(session);
    relay.metrics.connectionOpened();
    if (this.#farewell !== null) session.finish(this.#farewell);
    if (this.#cancelSweep === null) {
      this.#swept_at = surroundings.now();
      this.#sweepLater();
    }
    return session;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Answers what is in flight, and tells everybody to go to another node. No connection is taken until `resume`. */
  drain(): void {
    this.#farewell = "draining";
    for (const session of [...this.#sessions]) session.finish("draining");
  }

  resume(): void {
    if (this.#farewell === "draining") this.#farewell = null;
  }

  /** Answers what is in flight, tells everybody to come back, and waits until they are gone. */
  async stop(): Promise<void> {
    this.#farewell = "stopping";
    this.#stopRevocations();
    if (this.#sessions.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#whenEmpty.push(resolve);
      for (const session of [...this.#sessions]) session.finish("stopping");
      const cut = () => {
        for (const session of [...this.#sessions]) session.cut();
      };
      const cancel = this.#options.surroundings.schedule(this.#options.limits.stop_ms, cut);
      if (this.#sessions.size > 0) await promise;
      cancel();
    }
    this.#cancelSweep?.();
    this.#cancelSweep = null;
  }

  #greeted(session: Session, { name }: Caller): void {
    const most = this.#options.limits.ws_connections_per_agent;
    if (this.#by_caller.of(name) >= most) {
      throw new Problem(429, "too_many_connections", `${name} has ${most} connections; close some first.`, {}, 5);
    }
    this.#strangers.delete(session);
    this.#uncount.set(session, this.#by_caller.add(name));
  }

  #closed(session: Session, code: number): void {
    this.#sessions.delete(session);
    const uncount = this.#uncount.get(session);
    this.#uncount.delete(session);
    if (uncount === undefined) this.#strangers.delete(session);
    else uncount();
    this.#options.relay.metrics.connectionClosed(code);
    if (this.#sessions.size === 0) for (const empty of this.#whenEmpty.splice(0)) empty();
  }

  #recheck(agent: string): void {
    for (const session of [...this.#sessions]) if (session.caller?.name === agent) void session.recheck();
  }

  /** One timer for all of them; none while there are no connections. */
  #sweepLater(): void {
    const { limits, surroundings } = this.#options;
    this.#cancelSweep = surroundings.schedule(limits.ws_sweep_ms, () => {
      this.#cancelSweep = null;
      this.#sweep(surroundings.now());
      if (this.#sessions.size > 0) this.#sweepLater();
    });
  }

  #sweep(now: number): void {
    const { ws_sweep_ms, ws_ping_ms } = this.#options.limits;
    const was_stalled = now - this.#swept_at > ws_sweep_ms + ws_ping_ms / 2;
    this.#swept_at = now;
    for (const session of [...this.#sessions]) {
      if (was_stalled) session.forgive();
      session.sweep(now);
    }
    this.#options.calls.room.look();
  }
}
