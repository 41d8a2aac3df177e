/**
 * As much of better-sqlite3's Database as LangGraph's SQLite checkpointer uses, on the SQLite that comes with Node:
 * better-sqlite3 itself is native code that would have to be compiled.
 */

import { DatabaseSync, type SQLInputValue } from "node:sqlite";

type Value = SQLInputValue | undefined;

export default class Database {
  readonly #db: DatabaseSync;

  constructor(file: string) {
    this.#db = new DatabaseSync(file);
    this.#db.exec("PRAGMA busy_timeout = 5000");
  }

  pragma(text: string): void {
    this.#db.exec(`PRAGMA ${text}`);
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  prepare(sql: string): object {
    const statement = this.#db.prepare(sql);
    return {
      get: (...values: Value[]) => statement.get(...bound(values)),
      all: (...values: Value[]) => statement.all(...bound(values)),
      run: (...values: Value[]) => statement.run(...bound(values)),
    };
  }

  transaction<A extends unknown[]>(run: (...values: A) => void): (...values: A) => void {
    return (...values) => {
      this.#db.exec("BEGIN IMMEDIATE");
      try {
        run(...values);
        this.#db.exec("COMMIT");
      } catch (error) {
        this.#db.exec("ROLLBACK");
        throw error;
      }
    };
  }
}

function bound(values: readonly Value[]): SQLInputValue[] {
  return values.map((value) => value ?? null);
}
