/**
 * What waits to be written to one peer. Everything that becomes ready in one turn of the event loop goes into few frames.
 * The socket is given no more than it can soon pass on; the rest waits here, where it is counted.
 */

import type { Surroundings } from "@handfast/engine";
import type { RelayLimits } from "../../limits.ts";
import type { FrameSocket } from "./frame-socket.ts";

type Kind = "events" | "replies" | "over";
/** In this order: a reply may say that a stream broke, and a notice is about a lease that a reply brought. */
const kinds = ["events", "replies", "over"] as const satisfies readonly Kind[];

interface Item {
  readonly text: string;
  /** Called when it is certain, or may be, that it never left. */
  readonly lost: (() => void) | null;
}

type OutboxLimits = Pick<RelayLimits, "ws_reply_frame_bytes" | "ws_buffered_bytes">;

export class Outbox {
  readonly #socket: FrameSocket;
  readonly #surroundings: Surroundings;
  readonly #limits: OutboxLimits;
  readonly #queues: Readonly<Record<Kind, Item[]>> = { events: [], replies: [], over: [] };
  readonly #room: (() => void)[] = [];
  /** Given to the socket, and not known to have left. */
  #leaving: (() => void)[] = [];
  #queued_bytes = 0;
  #is_flushing = false;
  #is_shut = false;
  #seen_buffered = 0;
  #progress_at: number;

  constructor(socket: FrameSocket, surroundings: Surroundings, limits: OutboxLimits) {
    this.#socket = socket;
    this.#surroundings = surroundings;
    this.#limits = limits;
    this.#progress_at = surroundings.now();
  }

  /** About, in UTF-16 units as far as they have not been given to the socket. */
  get bytes(): number {
    return this.#queued_bytes + this.#socket.bufferedAmount;
  }

  /** `text` is one element of the frame's list, already JSON. */
  add(kind: Kind, text: string, lost: (() => void) | null = null): void {
    if (this.#is_shut) {
      lost?.();
      return;
    }
    this.#queues[kind].push({ text, lost });
    this.#queued_bytes += text.length;
    if (this.#is_flushing) return;
    this.#is_flushing = true;
    this.#surroundings.defer(() => {
      this.#is_flushing = false;
      this.flush();
    });
  }

  /** As much as the socket should hold. */
  flush(): void {
    if (this.#is_shut) return;
    this.#observe();
    for (const kind of kinds) this.#write(kind);
    if (this.#hasRoom()) for (const wake of this.#room.splice(0)) wake();
  }

  /** Resolves when there is room for more of a stream; also when nothing more will be written. */
  async room(): Promise<void> {
    if (this.#hasRoom()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#room.push(resolve);
    await promise;
  }

  /** Everything given to the socket has left. */
  drained(): void {
    this.#leaving = [];
    this.#progress_at = this.#surroundings.now();
    this.flush();
  }

  /** For how long the peer has taken nothing of what there is for it. */
  stalled(now: number): number {
    this.#observe();
    return this.bytes === 0 ? 0 : now - this.#progress_at;
  }

  /** A close is on its way: nothing more is written, and what waits here is lost. What the socket has may still leave. */
  shut(): void {
    if (this.#is_shut) return;
    this.#is_shut = true;
    const queued = kinds.flatMap((kind) => this.#queues[kind].splice(0));
    this.#queued_bytes = 0;
    for (const { lost } of queued) lost?.();
    for (const wake of this.#room.splice(0)) wake();
  }

  /** The socket is gone, and what it had not passed on with it. */
  close(): void {
    this.shut();
    for (const lost of this.#leaving.splice(0)) lost();
  }

  #hasRoom(): boolean {
    return this.#is_shut || this.bytes < this.#limits.ws_buffered_bytes;
  }

  #write(kind: Kind): void {
    const queue = this.#queues[kind];
    const { ws_reply_frame_bytes, ws_buffered_bytes } = this.#limits;
    let next = 0;
    while (next < queue.length && this.#socket.bufferedAmount < ws_buffered_bytes) {
      const from = next;
      let size = 0;
      for (let item = queue[next]; item !== undefined; item = queue[next]) {
        if (size > 0 && size + item.text.length > ws_reply_frame_bytes) break;
        size += item.text.length;
        next += 1;
      }
      this.#send(kind, queue.slice(from, next));
      this.#queued_bytes -= size;
    }
    if (next > 0) queue.splice(0, next);
  }

  #send(kind: Kind, items: readonly Item[]): void {
    this.#socket.send(`{"${kind}":[${items.map(({ text }) => text).join(",")}]}`);
    this.#seen_buffered = this.#socket.bufferedAmount;
    for (const { lost } of items) if (lost !== null) this.#leaving.push(lost);
  }

  #observe(): void {
    const buffered = this.#socket.bufferedAmount;
    if (buffered === 0 || buffered < this.#seen_buffered) this.#progress_at = this.#surroundings.now();
    this.#seen_buffered = buffered;
  }
}
