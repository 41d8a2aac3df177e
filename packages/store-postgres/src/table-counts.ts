/**
 * Has the server count its tables while they are young. It plans by what it last counted, keeps the plans of prepared statements until
 * it counts again, and does so by itself only now and then: until then a table that was empty is taken for small.
 */

import { count_after_writes, count_until_writes } from "./limits.ts";

/** Columns by which rows are found: what is only read back, and is long, need not be looked at. */
const counted = {
  accepted: "namespace, id, sender, key, addressee, capability, correlation_id, causation_id, conversation_id, num",
  handoff: "num",
  ready: "namespace, queue, rank, num",
  timer: "wake_at, num",
  lease: "namespace, agent, worker, num",
  facet: "namespace, kind, value, num",
  body: "num, kind, number",
  event: "pos, namespace, handoff, correlation_id, at",
};
/** A small sample tells a large table from a small one. Where another node is at it, it is left to that one. */
const countTables = `
  SET LOCAL default_statistics_target = 10;
  ANALYZE (SKIP_LOCKED) ${Object.entries(counted)
    .map(([table, columns]) => `handfast.${table} (${columns})`)
    .join(", ")}`;

export class TableCounts {
  readonly #ask: (statement: string) => Promise<unknown>;
  #writes = 0;
  #next = count_after_writes;

  constructor(ask: (statement: string) => Promise<unknown>) {
    this.#ask = ask;
  }

  /** So many units were committed. Counting goes on beside whatever is asked next. */
  wrote(units: number): void {
    if (this.#writes >= count_until_writes) return;
    this.#writes += units;
    if (this.#writes < this.#next) return;
    this.#next = this.#writes * 4;
    // Without it statements are slower, nothing else; a server that is away is found out by whoever needs it.
    this.#ask(countTables).catch(() => {});
  }
}
