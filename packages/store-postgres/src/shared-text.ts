/**
 * Streamed output among nodes: appended in batches, and a signal for whoever reads it elsewhere, sent after it on another
 * connection. What is appended while one signal travels is told by the next.
 */

import type { StreamedText, TextPiece } from "@handfast/engine";
import { Rows } from "./arrays.ts";
import type { Reads } from "./connection.ts";
import { signal_bytes } from "./limits.ts";
import { number, text } from "./rows.ts";
import { appendChunks, chunkShape, findChunks, floorShape, trimChunks } from "./sql/chunk.ts";

type Read = <Value>(read: (reads: Reads) => Promise<Value>) => Promise<Value>;
type Listener = (namespace: string, id: string) => void;
type Named = readonly [namespace: string, id: string];

const channel = "handfast_text";

export class SharedText {
  readonly #read: Read;
  /** Tells the signals of this node from those of others. */
  readonly #node: string;
  readonly #listeners = new Set<Listener>();
  readonly #untold = new Map<string, Named>();
  #sending = false;

  constructor(read: Read, node: string) {
    this.#read = read;
    this.#node = node;
  }

  attach(pool: Reads): void {
    // While nobody can be heard, whoever reads looks by itself.
    pool.listen(channel, (payload) => this.#heard(payload)).catch(() => {});
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async append(pieces: readonly TextPiece[]): Promise<void> {
    const [rows, floors] = [new Rows(chunkShape), new Rows(floorShape)];
    for (const { namespace, id, fence, offset, text: written, floor } of pieces) {
      const end_at = offset + written.length;
      rows.add({ namespace, id, fence, start_at: offset, end_at, json: JSON.stringify(written) });
      if (floor > 0 || (offset === 0 && fence > 1)) floors.add({ namespace, id, fence, floor });
    }
    await this.#read((reads) => reads.ask(appendChunks, ...rows.parameters()));
    if (floors.size > 0) await this.#read((reads) => reads.ask(trimChunks, ...floors.parameters()));
    for (const { namespace, id } of pieces) this.#untold.set(JSON.stringify([namespace, id]), [namespace, id]);
    if (!this.#sending) void this.#send();
  }

  async read(namespace: string, id: string, offset: number): Promise<StreamedText | null> {
    const rows = await this.#read((reads) => reads.ask(findChunks, namespace, id, offset));
    const [first] = rows;
    if (first === undefined) return null;
    const pieces = rows
      .filter((row) => row["json"] !== null)
      .map((row) => ({ offset: number(row, "start_at"), text: String(JSON.parse(text(row, "json"))) }));
    return { fence: number(first, "fence"), floor: number(first, "floor"), end: number(first, "until"), pieces };
  }

  async #send(): Promise<void> {
    this.#sending = true;
    while (this.#untold.size > 0) {
      const payload = JSON.stringify([this.#node, ...this.#take()]);
      await this.#read((reads) => reads.ask("SELECT pg_notify($1, $2)", channel, payload)).catch(() => {});
    }
    this.#sending = false;
  }

  /** As many as fit into one signal. */
  #take(): readonly Named[] {
    const taken: Named[] = [];
    let bytes = 0;
    for (const [key, named] of this.#untold) {
      bytes += Buffer.byteLength(key) + 1;
      if (bytes > signal_bytes && taken.length > 0) break;
      taken.push(named);
      this.#untold.delete(key);
    }
    return taken;
  }

  #heard(payload: string): void {
    const [from, ...named]: [string, ...Named[]] = JSON.parse(payload);
    if (from === this.#node) return;
    for (const [namespace, id] of named) for (const listener of this.#listeners) listener(namespace, id);
  }
}
