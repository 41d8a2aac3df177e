/** Counts and digests of what goes by, for each kind of thing: two stores with equal ledgers hold the same. */

import { createHash } from "node:crypto";
import type { KeptTable } from "@handfast/engine";

export type Counts = Readonly<Record<KeptTable, number>>;

export interface Sum {
  readonly counts: Counts;
  /** Of the lines of each kind, in order, each with its line break. */
  readonly sha256: Readonly<Record<KeptTable, string>>;
}

export const tables = ["log", "record", "handoff", "body", "key", "event"] as const satisfies readonly KeptTable[];

export class Ledger {
  readonly #counts = { log: 0, record: 0, handoff: 0, body: 0, key: 0, event: 0 };
  readonly #hashes = new Map(tables.map((table) => [table, createHash("sha256")]));

  add(table: KeptTable, line: string): void {
    this.#counts[table] += 1;
    this.#hashes.get(table)?.update(line).update("\n");
  }

  /** How many there were so far. */
  get seen(): number {
    return tables.reduce((sum, table) => sum + this.#counts[table], 0);
  }

  sum(): Sum {
    const digest = (table: KeptTable) => this.#hashes.get(table)?.copy().digest("hex") ?? "";
    return {
      counts: { ...this.#counts },
      sha256: {
        log: digest("log"),
        record: digest("record"),
        handoff: digest("handoff"),
        body: digest("body"),
        key: digest("key"),
        event: digest("event"),
      },
    };
  }
}

/** In words, where two sums differ; null: they do not. */
export function difference(one: Sum, other: Sum): string | null {
  const named = tables.find(
    (table) => one.counts[table] !== other.counts[table] || one.sha256[table] !== other.sha256[table],
  );
  if (named === undefined) return null;
  const [left, right] = [one.counts[named], other.counts[named]];
  return left === right ? `the ${left} of ${named} are not the same` : `${left} of ${named}, and ${right}`;
}
