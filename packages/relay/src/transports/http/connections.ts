/**
 * The calls in flight: who makes them, how many each may make, and how to end those that wait, when their caller leaves
 * or the relay stops.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { RelayLimits } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { Tally } from "../../tally.ts";

export interface Connection {
  readonly signal: AbortSignal;
  /** Throws where its caller has too many already. */
  belongsTo(caller: string): void;
  /** It will wait: of those a caller has fewer. To be told after whom it belongs to. */
  waits(): void;
  close(): void;
}

interface InFlight {
  readonly controller: AbortController;
  readonly counted: (() => void)[];
  caller: string;
}

/** Whether the relay is alive, and what those who hold leases must say in time: a crowd does not keep these out. */
const vital: ReadonlySet<string> = new Set([
  "healthz",
  "readyz",
  "metrics",
  "ack",
  "heartbeat",
  "checkpoint",
  "complete",
  "fail",
  "reject",
  "release",
]);

export class Connections {
  readonly #limits: RelayLimits;
  readonly #in_flight = new Set<InFlight>();
  readonly #calls = new Tally();
  readonly #vital_calls = new Tally();
  readonly #waits = new Tally();
  readonly #streams = new Tally();
  #stopping = false;
  #idle: (() => void) | null = null;

  constructor(limits: RelayLimits) {
    this.#limits = limits;
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** Throws where the relay has too many calls in flight. */
  open(operation: string, request: IncomingMessage, response: ServerResponse): Connection {
    const is_vital = vital.has(operation);
    this.#checkRoom(is_vital);
    const call: InFlight = { controller: new AbortController(), counted: [], caller: "" };
    this.#in_flight.add(call);
    const gone = () => {
      if (!response.writableFinished) call.controller.abort();
    };
    response.once("close", gone);
    if (this.#stopping || request.socket.destroyed) call.controller.abort();
    return {
      signal: call.controller.signal,
      belongsTo: (caller) => {
        call.caller = caller;
        call.counted.push(this.#count(is_vital ? this.#vital_calls : this.#calls, caller, "calls"));
      },
      waits: () => call.counted.push(this.#count(this.#waits, call.caller, "waits")),
      close: () => {
        response.off("close", gone);
        for (const uncount of call.counted) uncount();
        this.#in_flight.delete(call);
        if (this.#in_flight.size === 0) this.#idle?.();
      },
    };
  }

  #checkRoom(is_vital: boolean): void {
    const { requests_in_flight, requests_in_flight_vital } = this.#limits;
    if (this.#in_flight.size < (is_vital ? requests_in_flight_vital : requests_in_flight)) return;
    const detail = "The relay has as many calls in flight as it takes; try again in a moment.";
    throw new Problem(429, "busy", detail, {}, 1);
  }

  #count(tally: Tally, caller: string, what: "calls" | "waits"): () => void {
    const most = what === "calls" ? this.#limits.calls_per_caller : this.#limits.waits_per_caller;
    if (tally.of(caller) < most) return tally.add(caller);
    const which = what === "calls" ? "calls in flight" : "calls that wait";
    throw new Problem(429, `too_many_${what}`, `You have ${most} ${which}; let some of them end first.`, {}, 1);
  }

  /** Counts an open stream; returns how to count it off. */
  stream(caller: string): () => void {
    const own = this.#streams.of(caller);
    if (this.#streams.total >= this.#limits.sse_streams || own >= this.#limits.sse_streams_per_agent) {
      throw new Problem(429, "too_many_streams", `You have ${own} event streams open; close some, or poll.`, {}, 5);
    }
    return this.#streams.add(caller);
  }

  /** Its credential is worth nothing any more: what waits on it ends. */
  revoke(caller: string): void {
    for (const call of this.#in_flight) if (call.caller === caller) call.controller.abort();
  }

  stop(): void {
    this.#stopping = true;
    for (const call of this.#in_flight) call.controller.abort();
  }

  async idle(most_ms: number): Promise<void> {
    if (this.#in_flight.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#idle = resolve;
    const timer = setTimeout(resolve, most_ms);
    await promise.finally(() => clearTimeout(timer));
  }
}
