/** The bytes of artifacts in memory, for a relay that leaves nothing behind. */

import { createHash } from "node:crypto";
import type { ArtifactBytes, Written } from "../artifacts/files.ts";

interface Kept {
  readonly bytes: Uint8Array;
  readonly modified_at: number;
}

export function memoryArtifacts(now: () => number): ArtifactBytes {
  const kept = new Map<string, Kept>();
  return {
    open: async () => {},
    write: async (pieces, admit): Promise<Written> => {
      const bytes = await gather(pieces, admit);
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      return {
        sha256,
        size: bytes.length,
        keep: async () => void kept.set(sha256, { bytes, modified_at: now() }),
        drop: async () => {},
      };
    },
    size: async (sha256) => kept.get(sha256)?.bytes.length ?? null,
    read: async function* (sha256, start, end) {
      const found = kept.get(sha256);
      if (found !== undefined) yield found.bytes.subarray(start, end + 1);
    },
    remove: async (sha256) => void kept.delete(sha256),
    all: async function* () {
      for (const [sha256, { modified_at }] of kept) yield { sha256, modified_at };
    },
    freeBytes: async () => Number.POSITIVE_INFINITY,
  };
}

async function gather(pieces: AsyncIterable<Uint8Array>, admit: (size: number) => Promise<void>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of pieces) {
    size += part.length;
    await admit(size);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
