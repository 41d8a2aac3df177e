/** Brings a database to the newest schema: numbered steps, forward only, each in its own transaction. */

import type { Connection } from "./connection.ts";
import { number } from "./connection.ts";
import { SqliteStoreError } from "./errors.ts";

/** Step n (counted from 1) leads from `user_version` n − 1 to n. A step that was released is never edited. */
export type Migrations = readonly string[];

export function migrate(connection: Connection, migrations: Migrations): void {
  const found = schemaOf(connection);
  refuseNewer(found, migrations.length);
  for (const [index, step] of migrations.entries()) {
    if (index < found) continue;
    connection.db.exec(`BEGIN IMMEDIATE; ${step}; PRAGMA user_version = ${index + 1}; COMMIT`);
  }
}

export function schemaOf(connection: Connection): number {
  return number(connection.get("PRAGMA user_version"), "user_version");
}

export function refuseNewer(found: number, known: number): void {
  if (found <= known) return;
  throw new SqliteStoreError(
    "too_new",
    `The database has schema ${found}, this version of Handfast knows schemas up to ${known}. Start the newer version that wrote it, or restore a backup from before the upgrade.`,
  );
}
