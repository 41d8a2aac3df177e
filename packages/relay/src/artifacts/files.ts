/** Artifacts on disk: one file per digest, written whole or not at all. */

import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";

export interface Written {
  readonly sha256: string;
  readonly size: number;
  /** Gives the bytes their name; without it they are forgotten. */
  keep(): Promise<void>;
  drop(): Promise<void>;
}

/** Where the bytes of artifacts are kept. */
export interface ArtifactBytes {
  open(): Promise<void>;
  /** Hashed on the way; `admit` is asked before each piece is kept and may throw. */
  write(bytes: AsyncIterable<Uint8Array>, admit: (size: number) => Promise<void>): Promise<Written>;
  size(sha256: string): Promise<number | null>;
  read(sha256: string, start: number, end: number): AsyncIterable<Uint8Array>;
  remove(sha256: string): Promise<void>;
  /** Every digest that there are bytes of, and how old they are. */
  all(): AsyncIterable<{ readonly sha256: string; readonly modified_at: number }>;
  freeBytes(): Promise<number>;
}

export class ArtifactFiles implements ArtifactBytes {
  readonly #data_directory: string;
  readonly #directory: string;
  readonly #incoming: string;

  constructor(data_directory: string) {
    this.#data_directory = data_directory;
    this.#directory = join(data_directory, "artifacts");
    this.#incoming = join(this.#directory, "incoming");
  }

  /** What a crash left half-written is of no use to anybody. */
  async open(): Promise<void> {
    await rm(this.#incoming, { recursive: true, force: true });
    await mkdir(this.#incoming, { recursive: true, mode: 0o700 });
    await syncDirectory(this.#data_directory);
  }

  async write(bytes: AsyncIterable<Uint8Array>, admit: (size: number) => Promise<void>): Promise<Written> {
    const path = join(this.#incoming, randomUUID());
    const file = await open(path, "wx", 0o600);
    const drop = () => rm(path, { force: true });
    try {
      const { sha256, size } = await pour(bytes, file, admit);
      await file.sync();
      await file.close();
      return { sha256, size, drop, keep: () => this.#keep(path, sha256) };
    } catch (error) {
      await file.close().catch(() => {});
      await drop();
      throw error;
    }
  }

  async #keep(path: string, sha256: string): Promise<void> {
    const final = this.#path(sha256);
    const parent = join(final, "..");
    await mkdir(parent, { recursive: true, mode: 0o700 });
    await rename(path, final);
    // The name is safe only once the directories that hold it are.
    for (const directory of [parent, this.#directory]) await syncDirectory(directory);
  }

  async size(sha256: string): Promise<number | null> {
    return stat(this.#path(sha256)).then(
      ({ size }) => size,
      () => null,
    );
  }

  read(sha256: string, start: number, end: number): AsyncIterable<Uint8Array> {
    return createReadStream(this.#path(sha256), { start, end });
  }

  remove(sha256: string): Promise<void> {
    return rm(this.#path(sha256), { force: true });
  }

  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#data_directory);
    return bavail * bsize;
  }

  async *all(): AsyncGenerator<{ readonly sha256: string; readonly modified_at: number }> {
    for (const prefix of await readdir(this.#directory).catch(noneIfMissing)) {
      if (!/^[0-9a-f]{2}$/.test(prefix)) continue;
      for (const name of await readdir(join(this.#directory, prefix))) {
        if (!/^[0-9a-f]{64}$/.test(name)) continue;
        const found = await stat(join(this.#directory, prefix, name)).catch(() => null);
        if (found !== null) yield { sha256: name, modified_at: found.mtimeMs };
      }
    }
  }

  #path(sha256: string): string {
    return join(this.#directory, sha256.slice(0, 2), sha256);
  }
}

function noneIfMissing(error: NodeJS.ErrnoException): readonly string[] {
  if (error.code === "ENOENT") return [];
  throw error;
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  await handle.sync().finally(() => handle.close());
}

async function pour(bytes: AsyncIterable<Uint8Array>, file: FileHandle, admit: (size: number) => Promise<void>) {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    await admit(size);
    hash.update(chunk);
    await file.write(chunk);
  }
  return { sha256: hash.digest("hex"), size };
}
