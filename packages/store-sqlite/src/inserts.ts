/**
 * Rows for one table, gathered and written several at a time: half of what a small insert costs is the call (3.6 µs an event
 * one by one, 2.4 with 16 in a statement).
 */

import type { StatementSync } from "node:sqlite";
import type { Connection, Value } from "./connection.ts";
import { rows_per_insert } from "./limits.ts";

export class Inserts {
  readonly #connection: Connection;
  readonly #sql: (rows: number) => string;
  /** By the number of rows they take. */
  readonly #statements = new Map<number, StatementSync>();
  #values: Value[] = [];
  #rows = 0;

  /** `sql` for so many rows. */
  constructor(connection: Connection, sql: (rows: number) => string) {
    this.#connection = connection;
    this.#sql = sql;
  }

  add(...values: readonly Value[]): void {
    this.#values.push(...values);
    this.#rows += 1;
    if (this.#rows === rows_per_insert) this.flush();
  }

  /** Before anything reads or deletes in this table, and at the end. */
  flush(): void {
    if (this.#rows === 0) return;
    let statement = this.#statements.get(this.#rows);
    if (statement === undefined) {
      statement = this.#connection.db.prepare(this.#sql(this.#rows));
      this.#statements.set(this.#rows, statement);
    }
    statement.run(...this.#values);
    this.#values = [];
    this.#rows = 0;
  }
}
