/**
 * Calls that are open: those to be sent, in two queues, and those that wait for their answer. Frames are taken from it
 * that keep to the relay's limits; after a break everything unanswered is to be sent again, in its order.
 */

import { protocolLimits } from "@handfast/protocol";
import { linkLimits } from "./limits.ts";
import type { WsCall } from "./ws-call.ts";
import type { Hello } from "./ws-connection.ts";

/** Brackets, commas, the signature. */
const frame_overhead_bytes = 1_000;
const call_overhead_bytes = 32;

export class WsOutbox {
  readonly #open = new Map<number, WsCall>();
  readonly #sent = new Set<WsCall>();
  #vital = new Set<WsCall>();
  #ordinary = new Set<WsCall>();
  #abandoned: number[] = [];
  #sent_bytes = 0;

  get size(): number {
    return this.#open.size;
  }

  get(n: number): WsCall | undefined {
    return this.#open.get(n);
  }

  all(): readonly WsCall[] {
    return [...this.#open.values()];
  }

  /** Something is left to send. */
  get isWaiting(): boolean {
    return this.#vital.size > 0 || this.#ordinary.size > 0 || this.#abandoned.length > 0;
  }

  add(call: WsCall): void {
    this.#open.set(call.n, call);
    (call.is_vital ? this.#vital : this.#ordinary).add(call);
  }

  /** It was answered. False: nobody waits for it any more. */
  done(call: WsCall): boolean {
    if (this.#sent.delete(call)) this.#sent_bytes -= call.bytes;
    this.#vital.delete(call);
    this.#ordinary.delete(call);
    return this.#open.delete(call.n);
  }

  /** Nobody wants its answer: the relay is told, where it knows of the call. */
  abandon(call: WsCall): void {
    if (this.#sent.has(call)) this.#abandoned.push(call.n);
    this.done(call);
  }

  /** The connection is gone: whatever was sent over it is to be sent again. */
  unsend(): void {
    this.#sent.clear();
    this.#sent_bytes = 0;
    this.#abandoned = [];
    this.#vital = new Set();
    this.#ordinary = new Set();
    for (const call of this.#open.values()) (call.is_vital ? this.#vital : this.#ordinary).add(call);
  }

  /** Calls that were sent over the connection that is open now. */
  sent(): readonly WsCall[] {
    return [...this.#sent];
  }

  /** The next frame's calls, which count as sent from now on, and what is abandoned with it. */
  next({ limits }: Hello): { readonly calls: readonly WsCall[]; readonly abandoned: readonly number[] } {
    const { frame_bytes, frame_calls, calls_in_flight } = limits;
    const reserve = Math.min(linkLimits.vital_reserve, calls_in_flight / 2);
    const calls: WsCall[] = [];
    let bytes = frame_overhead_bytes;
    let documents = 0;
    const take = (queue: Set<WsCall>, most: number, most_bytes: number) => {
      for (const call of queue) {
        const size = call.bytes + call_overhead_bytes;
        if (calls.length >= frame_calls || this.#sent.size >= most) return;
        if (calls.length > 0 && (bytes + size > frame_bytes || this.#sent_bytes + size > most_bytes)) return;
        if (calls.length > 0 && documents + call.documents.length > protocolLimits.batch_messages) return;
        queue.delete(call);
        calls.push(call);
        this.#sent.add(call);
        this.#sent_bytes += call.bytes;
        bytes += size;
        documents += call.documents.length;
      }
    };
    take(this.#vital, calls_in_flight, Number.POSITIVE_INFINITY);
    take(this.#ordinary, calls_in_flight - reserve, 2 * frame_bytes);
    const abandoned = this.#abandoned.splice(0, frame_calls);
    return { calls, abandoned };
  }
}
