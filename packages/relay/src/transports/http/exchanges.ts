/**
 * What is under way on each connection. A problem that is found in a connection's bytes is written to it as it stands,
 * and whoever reads it takes it for the answer to the request it waits for: so it must be about that very request.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export class Exchanges {
  readonly #open = new WeakMap<Duplex, Set<Exchange>>();

  begin(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const exchange = { request, response };
    const known = this.#open.get(socket);
    if (known === undefined) this.#open.set(socket, new Set([exchange]));
    else known.add(exchange);
    response.once("close", () => this.#open.get(socket)?.delete(exchange));
  }

  /** Whether an answer has begun, or is owed to a request that came whole. */
  isAnswering(socket: Duplex): boolean {
    for (const { request, response } of this.#open.get(socket) ?? []) {
      if (request.complete || response.headersSent) return true;
    }
    return false;
  }
}
