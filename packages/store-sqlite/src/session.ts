/** Everything that is open at one time: the lock, the writer's connection, the reader. `recover` replaces it. */

import { Writer } from "./commit.ts";
import { type Connection, number, openMemory, openWriter } from "./connection.ts";
import { explainOpening } from "./errors.ts";
import { type Location, prepareLocation, preparePrivateFile } from "./location.ts";
import { type DirectoryLock, lockDirectory } from "./lock.ts";
import { LogSync, type Sync } from "./log-sync.ts";
import { type LongReads, readInPlace } from "./long-reads.ts";
import { Lookup } from "./lookup.ts";
import { type Migrations, migrate } from "./migrate.ts";
import { startReader } from "./reader.ts";
import { readHead } from "./sql/event.ts";

export interface Session {
  /** Null: in memory. */
  readonly location: Location | null;
  readonly connection: Connection;
  readonly lookup: Lookup;
  readonly writer: Writer;
  readonly reads: LongReads;
  /** Null: in memory. */
  readonly log: LogSync | null;
  /** The same store anew, from what is on disk. */
  reopen(): Promise<Session>;
  close(): Promise<void>;
}

export function openSession(directory: string | null, migrations: Migrations, sync?: Sync): Session {
  if (directory === null) {
    const connection = openMemory();
    migrate(connection, migrations);
    return inMemory(connection);
  }
  const location = prepareLocation(directory);
  const lock = lockDirectory(location);
  try {
    return onDisk(location, lock, migrations, sync);
  } catch (error) {
    lock.release();
    throw explainOpening(error, location.database);
  }
}

function inMemory(connection: Connection): Session {
  return {
    location: null,
    connection,
    ...writing(connection),
    reads: readInPlace(connection),
    log: null,
    // What a failed commit left was rolled back; memory has no other truth.
    reopen: async () => inMemory(connection),
    close: async () => connection.close(),
  };
}

function onDisk(location: Location, lock: DirectoryLock, migrations: Migrations, sync?: Sync): Session {
  preparePrivateFile(location.database);
  const connection = openWriter(location.database);
  try {
    migrate(connection, migrations);
  } catch (error) {
    connection.close();
    throw error;
  }
  const reads = startReader(location.database);
  const log = new LogSync(`${location.database}-wal`, sync);
  let open = true;
  const closeFiles = async () => {
    // A reopening that failed (a disk still full) is tried again from the same session.
    if (!open) return;
    open = false;
    // A reader that is gone already must not keep the writer open.
    await reads.close().catch(() => {});
    await log.close();
    connection.close();
  };
  return {
    location,
    connection,
    ...writing(connection),
    reads,
    log,
    reopen: async () => {
      await closeFiles();
      return onDisk(location, lock, migrations, sync);
    },
    close: async () => {
      await closeFiles();
      lock.release();
    },
  };
}

function writing(connection: Connection): Pick<Session, "lookup" | "writer"> {
  const lookup = new Lookup(connection);
  return { lookup, writer: new Writer(connection, lookup, number(connection.get(readHead), "head")) };
}
