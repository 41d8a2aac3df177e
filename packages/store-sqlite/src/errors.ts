/** What can be wrong with a SQLite store: what happened, which value, what to do next. */

export type SqliteStoreFault =
  /** Another process (or another store in this one) holds the directory. */
  | "in_use"
  /** There is no store in the directory. */
  | "missing"
  /** There is something in a store that should be empty. */
  | "not_empty"
  /** The database was written by a newer version of this code. */
  | "too_new"
  /** The file is not a database, or a damaged one. */
  | "damaged"
  /** The disk has no room left even to open it. */
  | "full"
  /** A setting that durability rests on did not take. */
  | "not_durable"
  /** A commit failed: what is on disk is unknown until `recover`. */
  | "unknown"
  /** The store was closed. */
  | "closed"
  /** The file that a backup should write exists already. */
  | "exists"
  /** The caller broke the interface's contract. */
  | "misuse";

export class SqliteStoreError extends Error {
  override readonly name = "SqliteStoreError";
  readonly fault: SqliteStoreFault;

  constructor(fault: SqliteStoreFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }
}

const sqlite_busy = 5;
const sqlite_corrupt = 11;
const sqlite_full = 13;
const sqlite_not_a_database = 26;

/** Whether another connection holds what was asked for. */
export function isBusy(error: unknown): boolean {
  return codeOf(error) === sqlite_busy;
}

function codeOf(error: unknown): number {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
}

/** What SQLite says when a file cannot be opened, as something that a person can act on. */
export function explainOpening(error: unknown, database: string): unknown {
  const code = codeOf(error);
  if (code === sqlite_full) {
    const message = `The disk of ${database} is full. Free some space and start again; nothing that was confirmed is lost.`;
    return new SqliteStoreError("full", message, error);
  }
  if (code !== sqlite_corrupt && code !== sqlite_not_a_database) return error;
  const message = `${database} is damaged or not a database. Put it aside and restore a backup in its place.`;
  return new SqliteStoreError("damaged", message, error);
}

/** Invariants are checked in production too: a store that goes on with broken ones loses work. */
export function ensure(holds: boolean, message: string): asserts holds {
  if (!holds) throw new SqliteStoreError("misuse", message);
}
