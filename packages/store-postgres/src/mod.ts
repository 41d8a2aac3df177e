/** The PostgreSQL store's public door: one database, which the user's own tools replicate and back up. */

export { PostgresStoreError, type PostgresStoreFault } from "./errors.ts";
export { openPostgresKept } from "./kept-store.ts";
export { openPostgresStore, type PostgresStoreOptions } from "./open.ts";
export { type Fate, type Posted, PostgresOutbox } from "./outbox.ts";
export { isPostgresUrl, shownUrl } from "./place.ts";
export { inspectPostgresSchema, migratePostgres } from "./schema.ts";
