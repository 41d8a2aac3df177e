/**
 * Brings a database to the newest schema: numbered steps, forward only, each in its own transaction, under a lock, so that of
 * several nodes that start at once one migrates and the others find it done.
 *
 * A step first expands (what older nodes do not know of, they do not miss) and a later one contracts; each says which is the
 * oldest version of this code that can still use the schema after it. So nodes of two versions serve side by side
 * while one replaces the other.
 *
 * A step that waits for a table (somebody reads it in a transaction that stays open, such as a backup's) would keep everybody waiting
 * who comes to that table after it. So it waits for a moment only, leaves the others their turn, and tries again.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { Asks } from "./connection.ts";
import { isInTheWay, PostgresStoreError, stepInTheWay } from "./errors.ts";
import { step_patience_ms, step_pause_ms, step_wait_ms } from "./limits.ts";
import { number, text, truth } from "./rows.ts";

interface Migration {
  readonly name: string;
  readonly sql: string;
  /** A node that knows fewer steps than this cannot use the schema any more. */
  readonly oldest_reader: number;
}
/** Step n (counted from 1) leads from schema n − 1 to n. A step that was released is never edited. */
export type Migrations = readonly Migration[];

/** Any number that nobody else's advisory lock has: "handfast", and what is locked. */
const lock_of_migration = "1751215716, 1";

export async function migrate(connection: Asks, migrations: Migrations, place: string): Promise<void> {
  const found = await foundSchema(connection, place);
  refuseNewer(found, migrations.length);
  if (found.step >= migrations.length) return;
  for (const [index, migration] of migrations.entries()) {
    const step = index + 1;
    if (step <= found.step) continue;
    await inItsTurn(`${migration.name}, schema ${step}`, place, () =>
      take(connection, step, migration, migrations.length, place),
    );
  }
}

async function inItsTurn(step: string, place: string, take: () => Promise<void>): Promise<void> {
  const began = performance.now();
  for (;;) {
    try {
      return await take();
    } catch (error) {
      if (!isInTheWay(error)) throw error;
      if (performance.now() - began > step_patience_ms) throw stepInTheWay(place, step, error);
      await pause(step_pause_ms);
    }
  }
}

/** All of one step, or nothing of it. */
async function take(
  connection: Asks,
  step: number,
  { name, sql, oldest_reader }: Migration,
  known: number,
  place: string,
): Promise<void> {
  await connection.ask("BEGIN");
  try {
    // Another node that migrates is waited for, however long it takes.
    await connection.ask(`SELECT pg_advisory_xact_lock(${lock_of_migration})`);
    const now = await foundSchema(connection, place);
    refuseNewer(now, known);
    if (now.step < step) {
      await connection.ask(`SET LOCAL lock_timeout = ${step_wait_ms}`);
      if (now.step === 0) await connection.ask(firstSchema);
      await connection.ask(sql);
      await connection.ask(
        "INSERT INTO handfast.schema_step (step, name, oldest_reader) VALUES ($1, $2, $3)",
        step,
        name,
        oldest_reader,
      );
    }
    await connection.ask("COMMIT");
  } catch (error) {
    await connection.ask("ROLLBACK");
    throw error;
  }
}

const firstSchema = `
  CREATE SCHEMA IF NOT EXISTS handfast;
  CREATE TABLE handfast.schema_step (
    step integer PRIMARY KEY,
    name text NOT NULL,
    oldest_reader integer NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
  )`;

export interface Found {
  /** 0: nothing of ours. */
  readonly step: number;
  readonly oldest_reader: number;
}

export async function foundSchema(connection: Asks, place: string): Promise<Found> {
  const [seen] = await connection.ask(`
    SELECT to_regclass('handfast.schema_step') IS NOT NULL AS is_ours,
      coalesce((SELECT string_agg(relname::text, ', ' ORDER BY relname) FROM pg_class
        WHERE relnamespace = to_regnamespace('handfast') AND relkind IN ('r', 'p', 'v')), '') AS tables`);
  if (!truth(seen, "is_ours")) {
    const tables = text(seen, "tables");
    if (tables === "") return { step: 0, oldest_reader: 0 };
    const message = `The schema handfast in ${place} is another product's: it has ${tables}. Name another database.`;
    throw new PostgresStoreError("foreign", message);
  }
  const [newest] = await connection.ask(`
    SELECT coalesce(max(step), 0) AS step, coalesce(max(oldest_reader), 0) AS oldest_reader FROM handfast.schema_step`);
  return { step: number(newest, "step"), oldest_reader: number(newest, "oldest_reader") };
}

export function refuseNewer({ step, oldest_reader }: Found, known: number): void {
  if (known >= oldest_reader) return;
  throw new PostgresStoreError(
    "too_new",
    `The database has schema ${step}, which needs a version of Handfast that knows schema ${oldest_reader}; this one knows schemas up to ${known}. Start the newer version, or restore a backup from before the upgrade.`,
  );
}
