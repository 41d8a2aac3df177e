/** The calls in flight: who makes them, and how to end those that wait, when their caller leaves or the relay stops. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { RelayLimits } from "../../limits.ts";
import { Problem } from "../../problem.ts";

export interface Connection {
  readonly signal: AbortSignal;
  belongsTo(caller: string): void;
  close(): void;
}

interface InFlight {
  readonly controller: AbortController;
  caller: string | null;
}

export class Connections {
  readonly #limits: RelayLimits;
  readonly #in_flight = new Set<InFlight>();
  readonly #streams = new Map<string, number>();
  #streams_total = 0;
  #stopping = false;
  #idle: (() => void) | null = null;

  constructor(limits: RelayLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#in_flight.size;
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  open(request: IncomingMessage, response: ServerResponse): Connection {
    const call: InFlight = { controller: new AbortController(), caller: null };
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
      },
      close: () => {
        response.off("close", gone);
        this.#in_flight.delete(call);
        if (this.#in_flight.size === 0) this.#idle?.();
      },
    };
  }

  /** Counts an open stream; returns how to count it off. */
  stream(caller: string): () => void {
    const own = this.#streams.get(caller) ?? 0;
    if (this.#streams_total >= this.#limits.sse_streams || own >= this.#limits.sse_streams_per_agent) {
      throw new Problem(429, "too_many_streams", `You have ${own} event streams open; close some, or poll.`, {}, 5);
    }
    this.#streams_total += 1;
    this.#streams.set(caller, own + 1);
    return () => {
      this.#streams_total -= 1;
      const left = (this.#streams.get(caller) ?? 1) - 1;
      if (left === 0) this.#streams.delete(caller);
      else this.#streams.set(caller, left);
    };
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
