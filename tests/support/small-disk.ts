/** A small disk of its own (a tmpfs), which can be filled and given room again. */

import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const piece = Buffer.alloc(65_536);

export class SmallDisk implements Disposable {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** Null: this system allows none to be mounted. */
  static mount(megabytes: number): SmallDisk | null {
    const directory = mkdtempSync(join(tmpdir(), "handfast-disk-"));
    const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", directory]);
    if (status === 0) return new SmallDisk(directory);
    rmSync(directory, { recursive: true });
    return null;
  }

  /** Something of this size that is not the relay's. */
  load(megabytes: number): void {
    const file = openSync(this.#ballast, "w");
    for (let written = 0; written < megabytes * 1_048_576; written += piece.length) writeSync(file, piece);
    closeSync(file);
  }

  /** Until no more than so much is free. */
  leave(megabytes: number): void {
    const file = openSync(this.#ballast, "a");
    const free = () => {
      const { bavail, bsize } = statfsSync(this.directory);
      return bavail * bsize;
    };
    while (free() > megabytes * 1_048_576) writeSync(file, piece);
    closeSync(file);
  }

  /** Until not a byte more fits. */
  fill(): void {
    const file = openSync(this.#ballast, "a");
    for (let size = piece.length; size > 0; ) {
      try {
        writeSync(file, piece.subarray(0, size));
      } catch {
        size = Math.floor(size / 2);
      }
    }
    closeSync(file);
  }

  /** What was loaded or filled in is gone again. */
  unload(): void {
    rmSync(this.#ballast, { force: true });
  }

  [Symbol.dispose](): void {
    // Whoever was just killed may hold a file for another moment.
    execFileSync("umount", ["--lazy", this.directory]);
    rmSync(this.directory, { recursive: true });
  }

  get #ballast(): string {
    return join(this.directory, "ballast");
  }
}
