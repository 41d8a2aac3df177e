/** The SQLite store's public door: one relay, one directory, one file to back up. */

export { SqliteStoreError, type SqliteStoreFault } from "./errors.ts";
export { openSqliteKept } from "./kept-store.ts";
export { databaseName } from "./location.ts";
export { lockDataDirectory } from "./lock.ts";
export { openSqliteStore, type SqliteStoreOptions, type SqliteStorePlace } from "./open.ts";
export { inspectSqliteSchema, migrateSqlite } from "./schema.ts";
