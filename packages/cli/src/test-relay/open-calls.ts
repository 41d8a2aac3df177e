/**
 * The requests that have come and are not answered yet. While the relay is at rest they are parked: each waits for time
 * to pass, or for another call. Whoever rules the clock compares them with what it has in flight itself.
 */

import type { IncomingMessage, ServerResponse } from "node:http";

/** By this header a caller names a call, so that it can tell which of its calls are parked. */
export const call_header = "handfast-test-call";

interface OpenCall {
  readonly name: string | null;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Of the answer's body, handed over so far: a stream is open, and parked, while events go out. */
  bytes: number;
}

export interface ParkedCalls {
  /** Of all callers. */
  readonly parked: number;
  /** Those that have a name: how many bytes of their answers are on the way or have arrived. */
  readonly calls: Readonly<Record<string, number>>;
}

export class OpenCalls {
  readonly #open = new Set<OpenCall>();

  begin(request: IncomingMessage, response: ServerResponse): void {
    const name = request.headers[call_header];
    const call = { name: typeof name === "string" ? name : null, request, response, bytes: 0 };
    this.#open.add(call);
    response.once("close", () => this.#open.delete(call));
    const write = response.write.bind(response) as (...words: unknown[]) => boolean;
    response.write = ((...words: unknown[]) => {
      const [piece] = words;
      if (typeof piece === "string" || piece instanceof Uint8Array) call.bytes += Buffer.byteLength(piece);
      return write(...words);
    }) as ServerResponse["write"];
  }

  /** One that is still arriving, or whose answer is on its way, is not parked: its caller will see it move. */
  parked(): ParkedCalls {
    const parked = [...this.#open].filter(
      ({ request, response }) => request.complete && !response.writableEnded && !response.destroyed,
    );
    const named = parked.flatMap(({ name, bytes }) => (name === null ? [] : [[name, bytes] as const]));
    return { parked: parked.length, calls: Object.fromEntries(named) };
  }
}
