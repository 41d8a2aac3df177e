/**
 * Where a stream stands, so that a break loses and repeats nothing. Events go on after the last id. Chunks are read again
 * from the start and what was seen is left out: the text may be a new attempt's by now, which its fence tells.
 */

import type { ProblemDocument } from "../errors.ts";
import type { StreamEvent, StreamName } from "./link.ts";

interface Chunk {
  readonly fence: number | null;
  readonly offset: number;
  readonly text: string;
}

export class Resume {
  readonly #name: StreamName;
  #last_id: string | undefined;
  #fence: number | null = null;
  /** Of chunks: where the next one begins. */
  #next: number | null = null;

  constructor(name: StreamName) {
    this.#name = name;
  }

  /** What to send as the last event's id. */
  get last_event_id(): string | undefined {
    return this.#name === "read_chunks" ? undefined : this.#last_id;
  }

  /** The query of a stream that is opened anew. */
  query<Query extends object>(first: Query | undefined): Query | undefined {
    if (this.#name !== "read_chunks" || this.#next === null) return first;
    return { ...first, offset: 0 } as Query;
  }

  /** The event as its reader gets it; null: it was seen before. */
  take(event: StreamEvent): StreamEvent | null {
    if (this.#name === "read_chunks" && event.event === "chunk") return this.#chunk(event);
    if (event.id !== undefined) this.#last_id = event.id;
    return event;
  }

  /** The log was cut after the last id: what stands there now is handed on, and the stream goes on from it. */
  jump({ cursor, snapshot }: ProblemDocument): StreamEvent | null {
    if (typeof cursor !== "string") return null;
    this.#last_id = cursor;
    return { event: "snapshot", id: cursor, data: snapshot ?? [] };
  }

  #chunk(event: StreamEvent): StreamEvent | null {
    const chunk = event.data as Chunk;
    const end = chunk.offset + chunk.text.length;
    const next = this.#next ?? 0;
    const same = this.#fence === null || chunk.fence === this.#fence;
    this.#fence = chunk.fence;
    if (!same) this.#next = null;
    const known = same && this.#next !== null ? Math.max(0, next - chunk.offset) : 0;
    this.#next = Math.max(end, same ? next : 0);
    if (known === 0) return event;
    if (known >= chunk.text.length) return null;
    return { ...event, data: { ...chunk, offset: chunk.offset + known, text: chunk.text.slice(known) } };
  }
}
