/** The schema of a store of either kind: how far it is, and the way to the newest one without a relay. */

import type { SchemaSteps } from "@handfast/engine";
import { inspectPostgresSchema, isPostgresUrl, migratePostgres } from "@handfast/store-postgres";
import { inspectSqliteSchema, migrateSqlite } from "@handfast/store-sqlite";

export interface SchemaOptions {
  /** Takes a server that may lose what it confirmed: only in tests that are not about durability. */
  readonly may_lose?: boolean;
}

/** `place`: a data directory, or the URL of a PostgreSQL database. Changes nothing. */
export async function inspectSchema(place: string, options: SchemaOptions = {}): Promise<SchemaSteps> {
  return isPostgresUrl(place) ? inspectPostgresSchema(place, options) : inspectSqliteSchema(place);
}

export async function migrateSchema(place: string, options: SchemaOptions = {}): Promise<void> {
  await (isPostgresUrl(place) ? migratePostgres(place, options) : migrateSqlite(place));
}
