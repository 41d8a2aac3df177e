/** One PostgreSQL server for a whole run, and a database of its own on it for whatever is measured next. */

import { installPackages, loadPackage } from "../obtain/npm-packages.ts";
import { startPostgres } from "./postgres.ts";
import type { Database, Place } from "./server.ts";

export interface SharedPostgres {
  readonly about: string;
  /** A new and empty one. */
  create(): Promise<LentDatabase>;
  stop(): Promise<void>;
}

export interface LentDatabase extends Database {
  /** Asks in this database, one statement after the other on one connection. */
  ask(statement: string, parameters?: readonly unknown[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** A session with a snapshot: nothing that was deleted since is cleaned up until it ends. */
  hold(): Promise<{ end(): Promise<void> }>;
  /** Ends the connection of `ask`. */
  leave(): Promise<void>;
  drop(): Promise<void>;
}

interface PgClient {
  connect(): Promise<unknown>;
  query(
    text: string,
    values?: readonly unknown[],
  ): Promise<{ readonly rows: readonly Readonly<Record<string, unknown>>[] }>;
  end(): Promise<void>;
}

export async function startSharedPostgres(place: Place): Promise<SharedPostgres> {
  await installPackages(place.say);
  const { default: pg } = await loadPackage<{ default: { Client: new (options: object) => PgClient } }>("pg");
  const { address, about, usage, stop } = await startPostgres(place);
  const { url = "" } = address;
  const connect = async (connectionString: string) => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    return client;
  };
  const admin = await onceItIsUp(() => connect(url));
  let made = 0;

  const lend = (name: string): LentDatabase => {
    const own = url.replace(/[^/]*$/, name);
    let client: PgClient | null = null;
    const leave = async () => {
      await client?.end();
      client = null;
    };
    return {
      url: own,
      about,
      usage,
      ask: async (statement, parameters = []) => {
        client ??= await connect(own);
        return (await client.query(statement, parameters)).rows;
      },
      hold: async () => {
        const holder = await connect(own);
        await holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
        // The snapshot is taken by the first statement, and kept.
        await holder.query("SELECT count(*) FROM pg_class");
        return { end: () => holder.end() };
      },
      leave,
      drop: async () => {
        await leave();
        await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
        // What one left to be written must not be written while the next is measured.
        await admin.query("CHECKPOINT");
      },
    };
  };
  return {
    about,
    create: async () => {
      made += 1;
      const name = `bench_${made}`;
      await admin.query(`CREATE DATABASE ${name}`);
      return lend(name);
    },
    stop: async () => {
      await admin.end();
      await stop();
    },
  };
}

const starting_up = "57P03";
const up_within_ms = 30_000;
const look_every_ms = 50;

/** It takes connections a moment before it takes sessions. */
async function onceItIsUp<T>(connect: () => Promise<T>): Promise<T> {
  const until = performance.now() + up_within_ms;
  for (;;) {
    try {
      return await connect();
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : null;
      if (code !== starting_up || performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, look_every_ms));
    }
  }
}
