/** What can be wrong with a SQLite store: what happened, which value, what to do next. */

export type SqliteStoreFault =
  /** Another process (or another store in this one) holds the directory. */
  | "in_use"
  /** The database was written by a newer version of this code. */
  | "too_new"
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

/** Invariants are checked in production too: a store that goes on with broken ones loses work. */
export function ensure(holds: boolean, message: string): asserts holds {
  if (!holds) throw new SqliteStoreError("misuse", message);
}
