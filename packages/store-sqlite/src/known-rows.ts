/**
 * What is known of rows without reading them: this process is the only writer, so what it last wrote or looked for in vain
 * is so until it writes again. Bounded; thrown away with the session after a failed commit.
 */

import type { State } from "@handfast/core";
import type { Value } from "./connection.ts";
import { known_rows } from "./limits.ts";

export interface KnownRow {
  readonly pos: number;
  readonly version: number;
  readonly state: State;
  /** As `changingColumns`. */
  readonly values: readonly Value[];
}

/** Null: there is no such row. */
type Known = KnownRow | null;

export class KnownRows {
  /** By namespace, then id. What was not asked for while the newer half filled up is forgotten. */
  #newer = new Map<string, Map<string, Known>>();
  #older = new Map<string, Map<string, Known>>();
  #newer_size = 0;

  /** Undefined: not known. */
  get(namespace: string, id: string): Known | undefined {
    const newer = this.#newer.get(namespace)?.get(id);
    if (newer !== undefined) return newer;
    const older = this.#older.get(namespace)?.get(id);
    if (older !== undefined) this.set(namespace, id, older);
    return older;
  }

  set(namespace: string, id: string, row: Known): void {
    if (this.#newer_size >= known_rows) {
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#newer_size = 0;
    }
    let rows = this.#newer.get(namespace);
    if (rows === undefined) {
      rows = new Map();
      this.#newer.set(namespace, rows);
    }
    const before = rows.size;
    rows.set(id, row);
    this.#newer_size += rows.size - before;
  }
}
