/**
 * Rows of handoffs as this node last wrote them. While nobody else writes them, a commit need not read before it writes; whether
 * somebody did, its own statement finds out, and then everything is read after all. A guess, never an answer.
 */

import type { Unit } from "@handfast/engine";
import { type Judgement, type KnownRow, nameOf } from "./judge.ts";
import { written_rows } from "./limits.ts";
import { standingAfter } from "./standing.ts";

export class WrittenRows {
  /** By `nameOf`, the longest unwritten first. */
  readonly #rows = new Map<string, KnownRow>();

  /** All rows that these units write and did not make; null: not all of them are as the units expect, so look. */
  all(units: readonly Unit[]): ReadonlyMap<string, KnownRow> | null {
    const rows = new Map<string, KnownRow>();
    const here = new Set<string>();
    for (const { writes, records, expects } of units) {
      if (expects !== undefined || records.length > 0) return null;
      for (const write of writes) {
        const name = nameOf(write);
        if (write.purge !== null) return null;
        if (here.has(name)) continue;
        here.add(name);
        if (write.expected_version === 0) continue;
        const known = this.#rows.get(name);
        if (known?.version !== write.expected_version) return null;
        rows.set(name, known);
      }
    }
    return rows;
  }

  /** These were committed; `nums`: their numbers. */
  wrote({ targets }: Judgement, nums: ReadonlyMap<string, number>): void {
    for (const [name, { last }] of targets) {
      this.#rows.delete(name);
      const num = nums.get(name);
      const standing = standingAfter(last);
      // Of what has ended and was taken nobody will write soon.
      if (num === undefined || last.purge !== null || !(standing.open || standing.untaken)) continue;
      this.#rows.set(name, { num, version: last.next.version, standing, heard: null });
    }
    for (const name of this.#rows.keys()) {
      if (this.#rows.size <= written_rows) break;
      this.#rows.delete(name);
    }
  }

  forget(): void {
    this.#rows.clear();
  }
}
