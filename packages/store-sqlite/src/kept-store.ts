/** A store on a directory, to be moved as a whole. It is locked as by a relay, so none can be running on it. */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Kept, KeptStore } from "@handfast/engine";
import { number } from "./connection.ts";
import { SqliteStoreError } from "./errors.ts";
import { databaseName } from "./location.ts";
import { migrations } from "./migrations/mod.ts";
import { readKept } from "./read-kept.ts";
import { noStore } from "./schema.ts";
import { openSession, type Session } from "./session.ts";
import { countKept, isAnythingKept } from "./sql/kept.ts";
import { KeptWriter } from "./write-kept.ts";

/** `fill`: a store to be written, which need not be there yet. Otherwise the schema is brought up to date, as by a start. */
export async function openSqliteKept(directory: string, purpose: "read" | "fill"): Promise<KeptStore> {
  const place = resolve(directory);
  if (purpose === "read" && !existsSync(join(place, databaseName))) {
    throw noStore(place);
  }
  const session = openSession(place, migrations);
  const { connection } = session;
  return {
    place,
    kind: "sqlite",
    schema: migrations.length,
    counts: async () => {
      const row = connection.get(countKept);
      const count = (table: string) => number(row, table);
      return {
        log: count("log"),
        record: count("record"),
        handoff: count("handoff"),
        body: count("body"),
        key: count("key"),
        event: count("event"),
      };
    },
    read: () => steadily(readKept(connection)),
    fill: (rows, check) => fill(session, place, rows, check),
    close: () => session.close(),
  };
}

/** Nobody else writes, so one moment is as another. */
async function* steadily(rows: Iterable<Kept>): AsyncGenerator<Kept> {
  yield* rows;
}

async function fill(
  { connection, log }: Session,
  place: string,
  rows: AsyncIterable<Kept>,
  check: (written: AsyncIterable<Kept>) => Promise<void>,
): Promise<void> {
  if (number(connection.get(isAnythingKept), "found") === 1) {
    throw new SqliteStoreError("not_empty", `There is a store in ${place} already. Name a directory without one.`);
  }
  connection.run("BEGIN IMMEDIATE");
  try {
    const writer = new KeptWriter(connection);
    for await (const kept of rows) writer.put(kept);
    writer.finish();
    await check(steadily(readKept(connection)));
    connection.run("COMMIT");
  } catch (error) {
    if (connection.db.isTransaction) connection.run("ROLLBACK");
    throw error;
  }
  await log?.sync();
}
