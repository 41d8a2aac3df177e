/**
 * Streamed output where several nodes share the store: the worker may speak to one node and its reader to another, and either may
 * move on. So the text goes through the store, unsynced; what is written while the last batch travels goes with the next one.
 *
 * A node remembers only how far each stream that it writes has come. Where that does not fit what the worker says, another
 * node has written since: the store is asked.
 */

import { type Handoff, liveLease, type Refusal } from "@handfast/core";
import { type ChunkStreams, type Chunks, chunkGap, type Holder, leaseLost } from "./chunks.ts";
import { EngineFault } from "./fault.ts";
import type { EngineLimits } from "./limits.ts";
import type { Sharing, TextPiece } from "./store.ts";

interface Stream {
  readonly namespace: string;
  readonly id: string;
  readonly fence: number;
  end: number;
}

interface Waiting {
  readonly stream: Stream;
  readonly offset: number;
  text: string;
  readonly written: PromiseWithResolvers<void>;
}

/** Streams whose end is remembered. */
const streams_kept = 10_000;

export class SharedChunks implements ChunkStreams {
  readonly #sharing: Pick<Sharing, "appendText" | "readText">;
  readonly #limits: EngineLimits;
  readonly #streams = new Map<string, Promise<Stream>>();
  #waiting: Waiting[] = [];
  /** Of what the store does not have yet. */
  #units = 0;
  #writing = false;

  constructor(sharing: Pick<Sharing, "appendText" | "readText">, limits: EngineLimits) {
    this.#sharing = sharing;
    this.#limits = limits;
  }

  async write(handoff: Handoff, holder: Holder, offset: number, text: string): Promise<{ offset: number } | Refusal> {
    const { namespace, id } = handoff.accepted;
    const lease = liveLease(handoff);
    if (lease?.fence !== holder.fence || lease.agent !== holder.agent) return leaseLost(id, holder.fence);
    let stream = await this.#stream(namespace, id, holder.fence);
    if (offset > stream.end) {
      this.#streams.delete(keyOf(stream));
      stream = await this.#stream(namespace, id, holder.fence);
    }
    const { end } = stream;
    if (offset > end) return chunkGap(end, offset);
    const fresh = text.slice(end - offset);
    if (this.#units + fresh.length > this.#limits.chunk_bytes) {
      throw new EngineFault(429, "busy", "more is streamed than the store takes; try again in a moment");
    }
    if (fresh !== "") await this.#append(stream, fresh);
    return { offset: end + fresh.length };
  }

  async read(namespace: string, id: string, offset: number): Promise<Chunks | null> {
    const found = await this.#sharing.readText(namespace, id, offset);
    if (found === null) return null;
    const { fence, floor, end, pieces } = found;
    const from = Math.min(Math.max(offset, floor), end);
    let text = "";
    for (const piece of pieces) {
      const next = from + text.length;
      // Two nodes may have written the same part in pieces of their own.
      if (piece.offset <= next) text += piece.text.slice(next - piece.offset);
    }
    return { fence, floor, offset: from, text };
  }

  /** As the store knows it. */
  #stream(namespace: string, id: string, fence: number): Promise<Stream> {
    const key = keyOf({ namespace, id, fence });
    const known = this.#streams.get(key);
    if (known !== undefined) return known;
    const [oldest] = this.#streams.keys();
    if (this.#streams.size >= streams_kept && oldest !== undefined) this.#streams.delete(oldest);
    const opened = this.#sharing.readText(namespace, id, Number.MAX_SAFE_INTEGER).then((found) => {
      return { namespace, id, fence, end: found?.fence === fence ? found.end : 0 };
    });
    this.#streams.set(key, opened);
    opened.catch(() => this.#streams.delete(key));
    return opened;
  }

  #append(stream: Stream, text: string): Promise<void> {
    const offset = stream.end;
    stream.end += text.length;
    this.#units += text.length;
    const last = this.#waiting.findLast((one) => one.stream === stream);
    if (last !== undefined) {
      last.text += text;
      return last.written.promise;
    }
    const written = Promise.withResolvers<void>();
    this.#waiting.push({ stream, offset, text, written });
    if (!this.#writing) void this.#writeAll();
    return written.promise;
  }

  async #writeAll(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#writeBatch(batch);
    }
    this.#writing = false;
  }

  async #writeBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#sharing.appendText(batch.map((one) => this.#pieceOf(one)));
      for (const { written } of batch) written.resolve();
    } catch (error) {
      for (const { stream, written } of batch) {
        // Nobody knows how far it came: the store is asked before the next.
        this.#streams.delete(keyOf(stream));
        written.reject(error);
      }
    } finally {
      for (const { text } of batch) this.#units -= text.length;
    }
  }

  #pieceOf({ stream: { namespace, id, fence }, offset, text }: Waiting): TextPiece {
    const floor = Math.max(0, offset + text.length - this.#limits.chunk_bytes_per_handoff);
    return { namespace, id, fence, offset, text, floor };
  }
}

function keyOf({ namespace, id, fence }: Pick<Stream, "namespace" | "id" | "fence">): string {
  return `${namespace} ${id} ${fence}`;
}
