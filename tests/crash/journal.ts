/** A party's own memory: lines of JSON in a file that only grows, and that outlives the party. */

import { existsSync, fsyncSync, openSync, readFileSync, truncateSync, writeSync } from "node:fs";

/** A journal and what earlier lives of the same party wrote into it. */
export interface Opened<Line> {
  readonly journal: Journal<Line>;
  readonly lines: readonly Line[];
}

export class Journal<Line> {
  readonly #file: number;

  private constructor(path: string) {
    this.#file = openSync(path, "a", 0o600);
  }

  static open<Line>(path: string): Opened<Line> {
    const lines = readJournal<Line>(path);
    dropTornLine(path);
    return { journal: new Journal<Line>(path), lines };
  }

  /** Outlives a kill: the kernel has it. */
  write(...lines: readonly Line[]): void {
    writeSync(this.#file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }

  /** Outlives a power failure too. */
  writeSafely(...lines: readonly Line[]): void {
    this.write(...lines);
    fsyncSync(this.#file);
  }
}

export function readJournal<Line>(path: string): readonly Line[] {
  if (!existsSync(path)) return [];
  const text = readFileSync(path, "utf8");
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

/** A party that was killed in the middle of a line never acted on it. */
function dropTornLine(path: string): void {
  if (!existsSync(path)) return;
  const bytes = readFileSync(path);
  truncateSync(path, bytes.lastIndexOf("\n") + 1);
}
