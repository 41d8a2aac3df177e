/** Everything that is open at one time: the connection that writes, and the pool. `recover` replaces it. */

import { setTimeout as pause } from "node:timers/promises";
import { type Backend, checkServer } from "./check-server.ts";
import { type Asks, Pool, type Reads } from "./connection.ts";
import { explainFirst, explainLater, inUse, PostgresStoreError, unconfirmed } from "./errors.ts";
import { inTime } from "./in-time.ts";
import { first_patience_ms, last_words_ms, recover_ms, recover_pause_ms } from "./limits.ts";
import { type Migrations, migrate } from "./migrate.ts";
import { keepPartitions } from "./partitions.ts";
import type { Place } from "./place.ts";
import { connectToPrimary } from "./primary.ts";
import { truth } from "./rows.ts";
import { unlessUnconfirmed } from "./unless-unconfirmed.ts";

export interface Session {
  readonly place: Place;
  readonly writer: Asks;
  readonly pool: Reads;
  /** The same store anew, from what the database holds. */
  reopen(): Promise<Session>;
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly migrations: Migrations;
  /** Whether a server is good enough that may lose what it confirmed. */
  readonly may_lose: boolean;
  /** Whether others on the same database are refused, or only those that want to be alone; null: nobody is. */
  readonly lock: "alone" | "shared" | null;
}

export async function openSession(place: Place, options: SessionOptions): Promise<Session> {
  try {
    return await connect(place, options, null);
  } catch (error) {
    throw explainFirst(error, place.shown);
  }
}

async function connect(place: Place, options: SessionOptions, before: Backend | null): Promise<Session> {
  const { writer, host } = await connectToPrimary(place, before === null ? first_patience_ms : 0);
  // A first start may migrate for as long as it takes. Whoever comes back does not wait for a network that lost it again.
  const asks: Asks =
    before === null ? writer : { ask: (statement, ...parameters) => inTime(writer.ask(statement, ...parameters)) };
  try {
    const backend = await checkServer(asks, place.shown, options.may_lose);
    if (before !== null) await endOf(asks, before, place);
    if (options.lock !== null) await lockDatabase(asks, place, options.lock);
    await unlessUnconfirmed(host, place.shown, prepare(asks, options.migrations, place));
    const pool = new Pool(host);
    let open = true;
    const end = async () => {
      // A reopening that failed (a server still down) is tried again from the same session.
      if (!open) return;
      open = false;
      await Promise.all([writer.cut(), pool.close()]);
    };
    return {
      place,
      writer,
      pool,
      reopen: async () => {
        await end();
        return reconnect(place, options, backend);
      },
      close: end,
    };
  } catch (error) {
    await writer.cut();
    throw error;
  }
}

async function prepare(connection: Asks, migrations: Migrations, place: Place): Promise<void> {
  await migrate(connection, migrations, place.shown);
  await keepPartitions(connection);
}

/** "handfast", and what is locked: the database, for as long as the connection that writes lives. */
const lock_of_database = "1751215716, 4";

async function lockDatabase(connection: Asks, place: Place, lock: "alone" | "shared"): Promise<void> {
  const take = lock === "alone" ? "pg_try_advisory_lock" : "pg_try_advisory_lock_shared";
  const [row] = await connection.ask(`SELECT ${take}(${lock_of_database}) AS is_mine`);
  if (!truth(row, "is_mine")) throw inUse(place.shown);
}

async function reconnect(place: Place, options: SessionOptions, before: Backend): Promise<Session> {
  const began = performance.now();
  for (;;) {
    try {
      return await openAgain(place, options, before);
    } catch (error) {
      const may_pass = error instanceof PostgresStoreError && error.is_away;
      if (!may_pass || performance.now() - began > recover_ms) throw error;
      await pause(recover_pause_ms);
    }
  }
}

async function openAgain(place: Place, options: SessionOptions, before: Backend): Promise<Session> {
  try {
    return await connect(place, options, before);
  } catch (error) {
    throw explainLater(error, place.shown);
  }
}

/**
 * What a lost connection had sent may still be under way on the server. After this it has happened, or never will.
 *
 * A commit that waits for a synchronous standby is not ended: the server would show it to everybody, and a standby that takes over
 * would not have it. Whoever asks for it again meanwhile must not hear that it was accepted.
 */
async function endOf(connection: Asks, { pid, since }: Backend, place: Place): Promise<void> {
  const [row] = await connection.ask(
    `SELECT coalesce(wait_event = 'SyncRep', false) AS is_unconfirmed,
       CASE WHEN wait_event IS DISTINCT FROM 'SyncRep' THEN pg_terminate_backend(pid, ${last_words_ms}) END AS is_over
     FROM pg_stat_activity WHERE pid = $1::integer AND backend_start::text = $2`,
    pid,
    since,
  );
  if (row !== undefined && truth(row, "is_unconfirmed")) throw unconfirmed(place.shown);
}
