/** The schema of a store on a database: how far it is, and the way to the newest one without a relay. */

import type { SchemaStep, SchemaSteps } from "@handfast/engine";
import { checkServer } from "./check-server.ts";
import type { Asks } from "./connection.ts";
import { explainFirst } from "./errors.ts";
import { foundSchema, type Migrations, refuseNewer } from "./migrate.ts";
import { migrations as current } from "./migrations/mod.ts";
import type { PostgresStoreOptions } from "./open.ts";
import { placeOf } from "./place.ts";
import { connectToPrimary } from "./primary.ts";
import { number, text } from "./rows.ts";
import { openSession } from "./session.ts";

type Options = Pick<PostgresStoreOptions, "migrations" | "may_lose">;

/** Changes nothing. A schema that this code can no longer use is refused. */
export async function inspectPostgresSchema(
  url: string,
  { migrations = current, may_lose = false }: Options = {},
): Promise<SchemaSteps> {
  const place = placeOf(url);
  try {
    const { writer: connection } = await connectToPrimary(place, 0);
    try {
      await checkServer(connection, place.shown, may_lose);
      const found = await foundSchema(connection, place.shown);
      refuseNewer(found, migrations.length);
      const strange = found.step > migrations.length ? await stepsAfter(connection, migrations.length) : [];
      return {
        place: `postgres://${place.shown}`,
        found: found.step,
        known: migrations.length,
        steps: [...knownSteps(migrations, found.step), ...strange],
      };
    } finally {
      await connection.cut();
    }
  } catch (error) {
    throw explainFirst(error, place.shown);
  }
}

/** Runs what is missing, as a start of a node would; nodes that can use the schema go on meanwhile. */
export async function migratePostgres(
  url: string,
  { migrations = current, may_lose = false }: Options = {},
): Promise<void> {
  const session = await openSession(placeOf(url), { migrations, may_lose, lock: null });
  await session.close();
}

/** After a step, the oldest reader is the newest that any step up to it asks for. */
function knownSteps(migrations: Migrations, found: number): readonly SchemaStep[] {
  let oldest = 0;
  return migrations.map(({ name, oldest_reader }, index) => {
    oldest = Math.max(oldest, oldest_reader);
    return { step: index + 1, name, oldest_reader: oldest, applied: index < found };
  });
}

async function stepsAfter(asks: Asks, known: number): Promise<readonly SchemaStep[]> {
  const rows = await asks.ask(
    "SELECT step, name, oldest_reader FROM handfast.schema_step WHERE step > $1::integer ORDER BY step",
    known,
  );
  return rows.map((row) => ({
    step: number(row, "step"),
    name: text(row, "name"),
    oldest_reader: number(row, "oldest_reader"),
    applied: true,
  }));
}
