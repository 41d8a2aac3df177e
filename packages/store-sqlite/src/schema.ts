/** The schema of a store on a directory: how far it is, and the way to the newest one without a relay. */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { SchemaSteps } from "@handfast/engine";
import { Connection } from "./connection.ts";
import { explainOpening, SqliteStoreError } from "./errors.ts";
import { databaseName } from "./location.ts";
import { type Migrations, refuseNewer, schemaOf } from "./migrate.ts";
import { migrationNames, migrations } from "./migrations/mod.ts";
import { openSession } from "./session.ts";

/** Changes nothing. A schema from the future is refused. */
export function inspectSqliteSchema(directory: string): SchemaSteps {
  const place = resolve(directory);
  const found = foundIn(place);
  refuseNewer(found, migrations.length);
  // One process has the store at a time, and an older one refuses a newer schema: each step is for its own version on.
  const steps = migrationNames.map((name, index) => {
    const step = index + 1;
    return { step, name, oldest_reader: step, applied: step <= found };
  });
  return { place, found, known: migrations.length, steps };
}

function foundIn(place: string): number {
  const path = join(place, databaseName);
  if (!existsSync(path)) throw noStore(place);
  try {
    const connection = new Connection(new DatabaseSync(path, { readOnly: true }));
    try {
      return schemaOf(connection);
    } finally {
      connection.close();
    }
  } catch (error) {
    throw explainOpening(error, path);
  }
}

/** Runs what is missing, as a start of the relay would. */
export async function migrateSqlite(directory: string, steps: Migrations = migrations): Promise<void> {
  await openSession(resolve(directory), steps).close();
}

export function noStore(place: string): SqliteStoreError {
  return new SqliteStoreError("missing", `There is no store in ${place}: it has no ${databaseName}.`);
}
