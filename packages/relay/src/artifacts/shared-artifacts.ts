/** Artifacts in a store that several nodes share: put up at one, read at another. Written in pieces, and whole or not at all. */

import { createHash, randomUUID } from "node:crypto";
import type { Time } from "@handfast/core";
import type { SharedBytes, Space } from "@handfast/engine";
import { limits } from "../limits.ts";
import type { ArtifactBytes, Written } from "./files.ts";

const listed_at_once = 500;
/** Whoever has just put bytes up may not have recorded that yet: until then they are not removed. */
const fresh_ms = 10 * 60_000;

interface SharedArtifactsOptions {
  readonly bytes: SharedBytes;
  readonly now: () => Time;
  readonly space: () => Promise<Space>;
  /** What a relay that ran alone left in its data directory; absent: nothing. */
  readonly earlier?: Pick<ArtifactBytes, "all" | "size" | "read">;
}

export class SharedArtifacts implements ArtifactBytes {
  readonly #options: SharedArtifactsOptions;

  constructor(options: SharedArtifactsOptions) {
    this.#options = options;
  }

  /**
   * What was in the data directory before is put up for all nodes. What is half-written may be another node's that goes on with it:
   * `all` has what is old enough swept away.
   */
  async open(): Promise<void> {
    const { earlier, bytes } = this.#options;
    if (earlier === undefined) return;
    for await (const { sha256 } of earlier.all()) {
      if ((await bytes.size(sha256)) !== null) continue;
      const size = (await earlier.size(sha256)) ?? 0;
      const written = await this.write(size === 0 ? nothing() : earlier.read(sha256, 0, size - 1), async () => {});
      // A file that is not what its name says stays where it is.
      await (written.sha256 === sha256 ? written.keep() : written.drop());
    }
  }

  async write(bytes: AsyncIterable<Uint8Array>, admit: (size: number) => Promise<void>): Promise<Written> {
    const shared = this.#options.bytes;
    const upload = randomUUID();
    const drop = () => shared.drop(upload);
    try {
      const { sha256, size } = await this.#pour(upload, bytes, admit);
      return { sha256, size, drop, keep: () => shared.keep(upload, sha256, size, this.#options.now()) };
    } catch (error) {
      // The first error tells more; what stays is swept away later.
      await drop().catch(() => {});
      throw error;
    }
  }

  async #pour(upload: string, bytes: AsyncIterable<Uint8Array>, admit: (size: number) => Promise<void>) {
    const { bytes: shared, now } = this.#options;
    const hash = createHash("sha256");
    const piece = Buffer.alloc(shared.piece_bytes);
    let [size, nth, filled] = [0, 0, 0];
    for await (const chunk of bytes) {
      size += chunk.length;
      await admit(size);
      hash.update(chunk);
      for (let taken = 0; taken < chunk.length; ) {
        const part = chunk.subarray(taken, taken + piece.length - filled);
        piece.set(part, filled);
        taken += part.length;
        filled += part.length;
        if (filled < piece.length) continue;
        await shared.write(upload, nth, piece, now());
        nth += 1;
        filled = 0;
      }
    }
    if (filled > 0) await shared.write(upload, nth, piece.subarray(0, filled), now());
    return { sha256: hash.digest("hex"), size };
  }

  size(sha256: string): Promise<number | null> {
    return this.#options.bytes.size(sha256);
  }

  /** One piece at a time, as they are taken. */
  async *read(sha256: string, start: number, end: number): AsyncGenerator<Uint8Array> {
    const { bytes: shared } = this.#options;
    const { piece_bytes } = shared;
    for (let nth = Math.floor(start / piece_bytes); nth * piece_bytes <= end; nth += 1) {
      const piece = await shared.piece(sha256, nth);
      // Whoever reads must not take what is cut off for the whole.
      if (piece === null) throw new Error(`artifact ${sha256} was removed while it was read`);
      const first = nth * piece_bytes;
      yield piece.subarray(Math.max(0, start - first), Math.min(piece.length, end + 1 - first));
    }
  }

  remove(sha256: string): Promise<void> {
    return this.#options.bytes.remove(sha256, this.#options.now() - fresh_ms);
  }

  async *all(): AsyncGenerator<{ readonly sha256: string; readonly modified_at: number }> {
    const { bytes: shared, now } = this.#options;
    await shared.sweep(now() - limits.unreferenced_artifact_life_ms);
    for (let after = ""; ; ) {
      const page = await shared.list(after, listed_at_once);
      for (const { sha256, kept_at } of page) yield { sha256, modified_at: kept_at };
      after = page.at(-1)?.sha256 ?? "";
      if (page.length < listed_at_once) return;
    }
  }

  /** How much room the server has it does not tell; only that there was none. */
  async freeBytes(): Promise<number> {
    return (await this.#options.space()).free_bytes ?? Number.POSITIVE_INFINITY;
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
