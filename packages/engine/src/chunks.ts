/**
 * Streamed output: ordered per fence, bounded in memory, resumable by offset, never on disk. The outcome is
 * authoritative; chunks are only the view on the way there.
 */

import { type Handoff, liveLease, type Refusal } from "@handfast/core";
import type { EngineLimits } from "./limits.ts";

interface Stream {
  readonly fence: number;
  /** Offset, in UTF-16 units, of the first character still held. */
  floor: number;
  text: string;
}

export interface Chunks {
  readonly fence: number;
  /** What lies before this offset is gone. */
  readonly floor: number;
  /** Offset of `text`. */
  readonly offset: number;
  readonly text: string;
}

export interface Holder {
  readonly agent: string;
  readonly fence: number;
}

/** Where streamed output is: here in memory, or with several nodes in the store that they share. */
export interface ChunkStreams {
  /** Repeating what was written changes nothing; a gap is refused. */
  write(
    handoff: Handoff,
    holder: Holder,
    offset: number,
    text: string,
  ): Awaitable<{ readonly offset: number } | Refusal>;
  /** From this offset on, of the newest fence; null: nothing was written. */
  read(namespace: string, id: string, offset: number): Awaitable<Chunks | null>;
}
type Awaitable<Value> = Value | Promise<Value>;

export class ChunkBuffers implements ChunkStreams {
  readonly #limits: EngineLimits;
  readonly #streams = new Map<string, Stream>();
  #units = 0;

  constructor(limits: EngineLimits) {
    this.#limits = limits;
  }

  write(handoff: Handoff, holder: Holder, offset: number, text: string): { readonly offset: number } | Refusal {
    const { namespace, id } = handoff.accepted;
    const lease = liveLease(handoff);
    if (lease?.fence !== holder.fence || lease.agent !== holder.agent) {
      return leaseLost(id, holder.fence);
    }
    const key = keyOf(namespace, id);
    const stream = this.#stream(key, holder.fence);
    const end = stream.floor + stream.text.length;
    if (offset > end) return chunkGap(end, offset);
    const fresh = text.slice(end - offset);
    stream.text += fresh;
    this.#units += fresh.length;
    this.#trim(stream);
    this.#evict(key);
    return { offset: stream.floor + stream.text.length };
  }

  read(namespace: string, id: string, offset: number): Chunks | null {
    const stream = this.#streams.get(keyOf(namespace, id));
    if (stream === undefined) return null;
    const from = Math.min(Math.max(offset, stream.floor), stream.floor + stream.text.length);
    return { fence: stream.fence, floor: stream.floor, offset: from, text: stream.text.slice(from - stream.floor) };
  }

  /** A new fence begins anew: another attempt writes its own text. */
  #stream(key: string, fence: number): Stream {
    const known = this.#streams.get(key);
    if (known?.fence === fence) {
      this.#streams.delete(key);
      this.#streams.set(key, known);
      return known;
    }
    if (known !== undefined) this.#units -= known.text.length;
    const stream = { fence, floor: 0, text: "" };
    this.#streams.delete(key);
    this.#streams.set(key, stream);
    return stream;
  }

  #trim(stream: Stream): void {
    const excess = stream.text.length - this.#limits.chunk_bytes_per_handoff;
    if (excess <= 0) return;
    stream.text = stream.text.slice(excess);
    stream.floor += excess;
    this.#units -= excess;
  }

  #evict(keep: string): void {
    for (const [key, stream] of this.#streams) {
      if (this.#units <= this.#limits.chunk_bytes) return;
      if (key === keep) continue;
      this.#units -= stream.text.length;
      this.#streams.delete(key);
    }
  }
}

export function leaseLost(id: string, fence: number): Refusal {
  return { code: 412, reason: "lease_lost", message: `fence ${fence} of handoff ${id} is over` };
}

export function chunkGap(end: number, offset: number): Refusal {
  return { code: 409, reason: "chunk_gap", message: `the next chunk begins at offset ${end}, not ${offset}` };
}

function keyOf(namespace: string, id: string): string {
  return `${namespace} ${id}`;
}
