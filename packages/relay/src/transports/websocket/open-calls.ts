/** The calls of one connection that are not answered yet: their numbers, what they hold in memory, and their end. */

import { Passing } from "@handfast/engine";
import type { RelayLimits } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { ConnectionEnd, malformed } from "./connection-end.ts";
import type { FrameCall } from "./frame.ts";
import type { SessionCall } from "./session-call.ts";

export class OpenCalls {
  readonly #limits: RelayLimits;
  readonly #open = new Passing<number, SessionCall>();
  readonly #run: (call: SessionCall) => void;
  #bytes = 0;

  constructor(limits: RelayLimits, run: (call: SessionCall) => void) {
    this.#limits = limits;
    this.#run = run;
  }

  get size(): number {
    return this.#open.size;
  }

  /** What they hold of the frames they came in. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Before any of them runs: a frame is taken whole, or not at all. */
  check(calls: readonly FrameCall[]): void {
    const most = this.#limits.ws_calls_in_flight;
    if (this.#open.size + calls.length > most) {
      const detail = `More than ${most} calls would be open; wait for answers before you ask for more.`;
      throw new ConnectionEnd("too_many", new Problem(429, "too_many_calls", detail, {}, 1));
    }
    const seen = new Set<number>();
    for (const { n } of calls) {
      if (seen.has(n) || this.#open.has(n))
        throw malformed("n_taken", `The call ${n} is still open; take another "n".`);
      seen.add(n);
    }
  }

  begin(call: SessionCall): void {
    this.#open.set(call.n, call);
    this.#bytes += call.bytes;
    this.#run(call);
  }

  done(call: SessionCall): void {
    this.#open.delete(call.n);
    this.#bytes -= call.bytes;
  }

  /** The client wants no answer any more; what it began goes on, and its number is free when that is done. */
  abandon(n: number): void {
    this.#open.get(n)?.abandon();
  }

  /** What waits is answered with what there is. */
  end(): void {
    for (const call of this.#open.values()) call.end("stopping");
  }
}

/** How much of a frame each of its calls holds in memory. Only of a large frame is it worth finding out exactly. */
export function sizesOf(
  calls: readonly FrameCall[],
  frame_bytes: number,
  body_bytes: number,
): (index: number) => number {
  if (frame_bytes <= body_bytes) return () => frame_bytes / calls.length;
  return (index) => {
    const { body, base64 } = calls[index] ?? {};
    return (body === undefined ? 0 : JSON.stringify(body).length) + (typeof base64 === "string" ? base64.length : 0);
  };
}
