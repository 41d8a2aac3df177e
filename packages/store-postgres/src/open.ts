/** Opens a store on a PostgreSQL database. */

import type { Store } from "@handfast/engine";
import type { Migrations } from "./migrate.ts";
import { migrations as current } from "./migrations/mod.ts";
import { placeOf } from "./place.ts";
import { PostgresStore } from "./postgres-store.ts";
import { openSession } from "./session.ts";

export interface PostgresStoreOptions {
  /** The schema's steps; other than the current ones only in tests of migrations. */
  readonly migrations?: Migrations;
  /** Takes a server that may lose what it confirmed (fsync off): only in tests that are not about durability. */
  readonly may_lose?: boolean;
  /**
   * Several nodes work on the database: what one of them looks at to do it is kept from the others, and what it writes is told
   * to them. Refuses a database that somebody works on alone.
   */
  readonly shared?: boolean;
}

export async function openPostgresStore(url: string, options: PostgresStoreOptions = {}): Promise<Store> {
  const { migrations = current, may_lose = false, shared = false } = options;
  const lock = shared ? "shared" : null;
  return new PostgresStore(await openSession(placeOf(url), { migrations, may_lose, lock }), shared);
}
