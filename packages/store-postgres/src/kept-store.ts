/** A store on a database, to be moved as a whole. It is locked as by a relay, so none can be running on it. */

import type { Kept, KeptStore, KeptTable } from "@handfast/engine";
import type { Asks } from "./connection.ts";
import { explain, PostgresStoreError } from "./errors.ts";
import { migrations } from "./migrations/mod.ts";
import type { PostgresStoreOptions } from "./open.ts";
import { keepPartitions } from "./partitions.ts";
import { placeOf } from "./place.ts";
import { readKept } from "./read-kept.ts";
import { number, truth } from "./rows.ts";
import { inspectPostgresSchema } from "./schema.ts";
import { openSession, type Session } from "./session.ts";
import { countKept, isAnythingKept } from "./sql/kept.ts";
import { countPosted } from "./sql/outbox.ts";
import { KeptWriter } from "./write-kept.ts";

/** `fill`: a store to be written, which need not be there yet. The schema is brought up to date, as by a start. */
export async function openPostgresKept(
  url: string,
  purpose: "read" | "fill",
  { may_lose = false }: Pick<PostgresStoreOptions, "may_lose"> = {},
): Promise<KeptStore> {
  if (purpose === "read") await expectStore(url, may_lose);
  const session = await openSession(placeOf(url), { migrations, may_lose, lock: "alone" });
  const { writer, place } = session;
  if (purpose === "read") await expectNothingPosted(session);
  return {
    place: `postgres://${place.shown}`,
    kind: "postgres",
    schema: migrations.length,
    counts: () => inWords(place.shown, () => countAll(writer)),
    read: () => readAll(writer, place.shown),
    fill: (rows, check) => inWords(place.shown, () => fill(writer, place.shown, rows, check)),
    close: () => session.close(),
  };
}

/** A mistyped database should not become a store by being read. */
async function expectStore(url: string, may_lose: boolean): Promise<void> {
  const { found, place } = await inspectPostgresSchema(url, { may_lose });
  if (found === 0) throw new PostgresStoreError("missing", `There is no store in ${place}: it has no schema handfast.`);
}

/** What was posted and not picked up is in no store yet: it would stay behind. */
async function expectNothingPosted(session: Session): Promise<void> {
  const [posted] = await session.writer.ask(countPosted);
  const rows = number(posted, "rows");
  if (rows === 0) return;
  await session.close();
  const remedy = "Start a relay on it until SELECT count(*) FROM handfast.outbox says 0.";
  const message = `${rows} handoffs that were posted by handfast.submit are not picked up yet. ${remedy}`;
  throw new PostgresStoreError("not_empty", message);
}

async function inWords<Value>(place: string, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    throw explain(error, place);
  }
}

async function countAll(asks: Asks): Promise<Readonly<Record<KeptTable, number>>> {
  const [row] = await asks.ask(countKept);
  const count = (table: KeptTable) => number(row, table);
  return {
    log: count("log"),
    record: count("record"),
    handoff: count("handoff"),
    body: count("body"),
    key: count("key"),
    event: count("event"),
  };
}

async function* readAll(asks: Asks, place: string): AsyncGenerator<Kept> {
  try {
    await asks.ask("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    yield* readKept(asks);
    await asks.ask("COMMIT");
  } catch (error) {
    throw explain(error, place);
  }
}

async function fill(
  asks: Asks,
  place: string,
  rows: AsyncIterable<Kept>,
  check: (written: AsyncIterable<Kept>) => Promise<void>,
): Promise<void> {
  const [found] = await asks.ask(isAnythingKept);
  if (truth(found, "found")) {
    const remedy = "Name a database without one: createdb makes it.";
    throw new PostgresStoreError("not_empty", `There is a store in ${place} already. ${remedy}`);
  }
  await asks.ask("BEGIN ISOLATION LEVEL READ COMMITTED");
  try {
    const writer = await KeptWriter.open(asks);
    for await (const kept of rows) await writer.put(kept);
    await writer.finish();
    await check(readKept(asks));
    await asks.ask("COMMIT");
  } catch (error) {
    // A connection that is lost has rolled back by itself.
    await asks.ask("ROLLBACK").catch(() => {});
    throw error;
  }
  await keepPartitions(asks);
}
