/** What can be wrong with a SQLite store: what happened, which value, what to do next. */

export type SqliteStoreFault =
  /** Another process (or another store in this one) holds the directory. */
  | "in_use"
  /** The database was written by a newer version of this code. */
  | "too_new"
  /** The file is not a database, or a damaged one. */
  | "damaged"
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

const sqlite_corrupt = 11;
const sqlite_not_a_database = 26;

/** What SQLite says of a damaged file, as something that a person can act on. */
export function explainDamage(error: unknown, database: string): unknown {
  const code = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
  if (code !== sqlite_corrupt && code !== sqlite_not_a_database) return error;
  const message = `${database} is damaged or not a database. Put it aside and restore a backup in its place.`;
  return new SqliteStoreError("damaged", message, error);
}

/** Invariants are checked in production too: a store that goes on with broken ones loses work. */
export function ensure(holds: boolean, message: string): asserts holds {
  if (!holds) throw new SqliteStoreError("misuse", message);
}
