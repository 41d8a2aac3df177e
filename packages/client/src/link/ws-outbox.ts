/**
 * Calls that are open: those to be sent, in two queues, and those that wait for their answer. Frames are taken from it
 * that keep to the relay's limits; after a break everything unanswered is to be sent again, in its order. Where the relay
 * refused a whole frame, what was in flight is under suspicion: it goes one call to a frame, the next only when the relay
 * has taken the last, until the one that the relay does not take stands alone.
 */

import { protocolLimits } from "@handfast/protocol/client";
import { linkLimits } from "./limits.ts";
import type { Hello } from "./relay-frame.ts";
import type { WsCall } from "./ws-call.ts";

/** Brackets, commas, the signature. */
const frame_overhead_bytes = 1_000;
const call_overhead_bytes = 32;
const call_overhead_keys = 1;

interface Frame {
  readonly calls: readonly WsCall[];
  readonly abandoned: readonly number[];
  /** Nothing more is to be sent until the relay has taken it. */
  readonly is_trial: boolean;
}

export class WsOutbox {
  readonly #open = new Map<number, WsCall>();
  readonly #sent = new Set<WsCall>();
  readonly #suspects = new Set<WsCall>();
  #trial: readonly WsCall[] | null = null;
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
    this.#suspects.delete(call);
    this.#vital.delete(call);
    this.#ordinary.delete(call);
    return this.#open.delete(call.n);
  }

  /** Nobody wants its answer: the relay is told, where it knows of the call. False: nobody wanted it before. */
  abandon(call: WsCall): boolean {
    if (this.#sent.has(call)) this.#abandoned.push(call.n);
    return this.done(call);
  }

  /** The connection is gone: whatever was sent over it is to be sent again. */
  unsend(): void {
    this.#trial = null;
    this.#sent.clear();
    this.#sent_bytes = 0;
    this.#abandoned = [];
    this.#vital = new Set();
    this.#ordinary = new Set();
    for (const call of this.#open.values()) (call.is_vital ? this.#vital : this.#ordinary).add(call);
  }

  /** The relay has taken the frame on trial: it was none of these. */
  taken(): void {
    for (const call of this.#trial ?? []) this.#suspects.delete(call);
    this.#trial = null;
  }

  /** The relay refused a frame, and with it the connection. The call that it was for, if that is certain. */
  refused(): WsCall | null {
    const accused = this.#trial ?? [...this.#sent];
    const [first] = accused;
    if (this.#trial?.length === 1 && first !== undefined) return first;
    for (const call of accused) if (this.#open.has(call.n)) this.#suspects.add(call);
    return null;
  }

  /** Calls that were sent over the connection that is open now. */
  sent(): readonly WsCall[] {
    return [...this.#sent];
  }

  /** The next frame's calls, which count as sent from now on, and what is abandoned with it. */
  next(hello: Hello): Frame {
    if (this.#trial !== null) return { calls: [], abandoned: [], is_trial: false };
    const is_trial = this.#suspects.size > 0;
    const calls = is_trial ? this.#tried(hello) : this.#together(hello);
    if (is_trial && calls.length > 0) this.#trial = calls;
    const abandoned = this.#abandoned.splice(0, hello.limits.frame_calls);
    return { calls, abandoned, is_trial: this.#trial !== null };
  }

  #together({ limits }: Hello): readonly WsCall[] {
    const { calls_in_flight } = limits;
    const reserve = Math.min(linkLimits.vital_reserve, calls_in_flight / 2);
    const calls: WsCall[] = [];
    this.#take(calls, this.#vital, limits, calls_in_flight, Number.POSITIVE_INFINITY);
    const most_bytes = 2 * Math.min(limits.frame_bytes, linkLimits.frame_bytes);
    this.#take(calls, this.#ordinary, limits, calls_in_flight - reserve, most_bytes);
    return calls;
  }

  /** A worker's acts that nobody suspects go first, all at once; then one suspect. */
  #tried({ limits }: Hello): readonly WsCall[] {
    const calls: WsCall[] = [];
    const unsuspected = [...this.#vital].filter((call) => !this.#suspects.has(call));
    this.#take(calls, unsuspected, limits, limits.calls_in_flight, Number.POSITIVE_INFINITY);
    if (calls.length > 0) return calls;
    for (const queue of [this.#vital, this.#ordinary]) {
      for (const call of queue) {
        if (!this.#suspects.has(call)) continue;
        this.#take(calls, [call], limits, limits.calls_in_flight, Number.POSITIVE_INFINITY);
        return calls;
      }
    }
    return calls;
  }

  #take(
    calls: WsCall[],
    queue: Iterable<WsCall>,
    limits: Hello["limits"],
    most: number,
    most_bytes_in_flight: number,
  ): void {
    const frame_bytes = Math.min(limits.frame_bytes, linkLimits.frame_bytes);
    const sizeOf = (call: WsCall) => call.bytes + call_overhead_bytes;
    const keysOf = (call: WsCall) => call.keys + call_overhead_keys;
    let bytes = calls.reduce((sum, call) => sum + sizeOf(call), frame_overhead_bytes);
    let keys = calls.reduce((sum, call) => sum + keysOf(call), 0);
    let documents = calls.reduce((sum, call) => sum + call.documents.length, 0);
    for (const call of queue) {
      const size = sizeOf(call);
      if (calls.length >= limits.frame_calls || this.#sent.size >= most) return;
      if (calls.length > 0 && (bytes + size > frame_bytes || this.#sent_bytes + size > most_bytes_in_flight)) return;
      if (calls.length > 0 && keys + keysOf(call) > linkLimits.frame_keys) return;
      if (calls.length > 0 && documents + call.documents.length > protocolLimits.batch_messages) return;
      this.#vital.delete(call);
      this.#ordinary.delete(call);
      calls.push(call);
      this.#sent.add(call);
      this.#sent_bytes += call.bytes;
      bytes += size;
      keys += keysOf(call);
      documents += call.documents.length;
    }
  }
}
