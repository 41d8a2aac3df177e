/** One connection with its settings read back, and its prepared statements kept. */

import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { number } from "@handfast/engine";
import { SqliteStoreError } from "./errors.ts";
import { busy_timeout_ms, cache_kib, checkpoint_bound_pages } from "./limits.ts";

export type Value = SQLInputValue;
export type Row = Readonly<Record<string, SQLOutputValue>>;

export class Connection {
  readonly db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.db = db;
  }

  /** The statement for this text, prepared once. Only for texts of which there are few. */
  statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  run(sql: string, ...values: Value[]): number {
    return Number(this.statement(sql).run(...values).changes);
  }

  get(sql: string, ...values: Value[]): Row | undefined {
    return this.statement(sql).get(...values);
  }

  all(sql: string, ...values: Value[]): readonly Row[] {
    return this.statement(sql).all(...values);
  }

  close(): void {
    this.#statements.clear();
    this.db.close();
  }
}

export function openMemory(): Connection {
  const db = new DatabaseSync(":memory:");
  db.exec("PRAGMA temp_store = memory");
  return new Connection(db);
}

/** The one connection that writes. */
export function openWriter(path: string): Connection {
  const db = new DatabaseSync(path, { timeout: busy_timeout_ms });
  try {
    setUp(db);
    db.exec(`PRAGMA wal_autocheckpoint = ${checkpoint_bound_pages}`);
    expectSetting(db, path, "journal_mode", "wal");
    // NORMAL syncs around every checkpoint. The sync after each commit is the store's own, off this thread (log-sync.ts).
    expectSetting(db, path, "synchronous", 1);
    // After a failed fsync the kernel holds pages as clean that never reached the disk. Moving the whole log into the
    // database writes and syncs every page of it anew.
    if (number(db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get(), "busy") !== 0) {
      throw new SqliteStoreError(
        "in_use",
        `Another program is reading ${path}: close it (a SQLite shell, a copy program) and start again.`,
      );
    }
  } catch (error) {
    db.close();
    throw error;
  }
  return new Connection(db);
}

/** The reader thread's connection: changes nothing, but may move the write-ahead log into the database. */
export function openReader(path: string): Connection {
  const db = new DatabaseSync(path, { timeout: busy_timeout_ms });
  setUp(db);
  db.exec("PRAGMA wal_autocheckpoint = 0; PRAGMA query_only = ON");
  return new Connection(db);
}

function setUp(db: DatabaseSync): void {
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    PRAGMA temp_store = memory;
    PRAGMA cache_size = -${cache_kib};
  `);
}

function expectSetting(db: DatabaseSync, path: string, name: string, wanted: string | number): void {
  const actual = db.prepare(`PRAGMA ${name}`).get()?.[name];
  if (actual === wanted) return;
  throw new SqliteStoreError(
    "not_durable",
    `SQLite answers ${name} = ${actual} for ${path} where ${wanted} was asked: acknowledged work could be lost, so the store does not start. Use a local file system.`,
  );
}

// Columns are typed by STRICT tables; these say which type a column has where it is read.
export { number, text, textOrNull } from "@handfast/engine";
