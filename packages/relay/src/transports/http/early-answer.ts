/**
 * An answer to a request whose body nobody will read to its end. To close at once would be to lose it: the kernel resets a
 * connection that is closed while bytes still come, and the reset takes the answer along before a caller that first writes
 * everything has read it. So the answer is written whole, what still comes is thrown away for a while, and then it is closed.
 */

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { RelayLimits } from "../../limits.ts";

export interface EarlyAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly text: string;
}

export type LingerLimits = Pick<RelayLimits, "linger_ms" | "linger_pause_ms" | "linger_bytes">;

/** Whether more is to come of it. A request is not complete while its headers are looked at, also where nothing follows them. */
export function isUnread({ complete, headers }: IncomingMessage): boolean {
  return !complete && (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0);
}

export function answerEarly(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, text }: EarlyAnswer,
  limits: LingerLimits,
): void {
  // What is left of the body must not be taken for the next request.
  response.writeHead(status, { ...headers, connection: "close", "content-length": Buffer.byteLength(text) });
  // For HEAD, where no body would take the headers along.
  response.flushHeaders();
  response.write(text);
  // Now, not in a moment: what comes next on this connection may be the end of it.
  response.socket?.uncork();
  void throwAway(request, response, limits).then(() => response.end());
}

/** Settles when the body is whole, its caller gone or silent, or enough was thrown away. */
function throwAway(request: IncomingMessage, response: ServerResponse, limits: LingerLimits): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let bytes = 0;
  // Whoever read until now has given up, and would stop the flow again.
  request.removeAllListeners("data").removeAllListeners("readable");
  const in_all = setTimeout(resolve, limits.linger_ms);
  const pause = setTimeout(resolve, limits.linger_pause_ms);
  request.on("data", (piece: Buffer) => {
    pause.refresh();
    bytes += piece.length;
    if (bytes > limits.linger_bytes) resolve();
  });
  request.once("end", resolve);
  response.once("close", resolve);
  request.resume();
  return promise.finally(() => {
    clearTimeout(in_all);
    clearTimeout(pause);
    request.pause();
  });
}
