/** Opens a store on a directory, or in memory for tests and the simulator. */

import type { Store } from "@handfast/engine";
import type { Sync } from "./log-sync.ts";
import type { Migrations } from "./migrate.ts";
import { migrations as current } from "./migrations/mod.ts";
import { openSession } from "./session.ts";
import { SqliteStore } from "./sqlite-store.ts";

export type SqliteStorePlace = { readonly directory: string } | { readonly memory: true };

export interface SqliteStoreOptions {
  /** The schema's steps; other than the current ones only in tests of migrations. */
  readonly migrations?: Migrations;
  /** How the log is synced; otherwise than by the kernel only in tests. */
  readonly sync?: Sync;
}

export async function openSqliteStore(place: SqliteStorePlace, options: SqliteStoreOptions = {}): Promise<Store> {
  const directory = "directory" in place ? place.directory : null;
  return new SqliteStore(openSession(directory, options.migrations ?? current, options.sync));
}
