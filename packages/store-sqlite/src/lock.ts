/**
 * The lock against a second process: an empty database held in an exclusive transaction. The lock is the kernel's, so
 * it dies with its holder, however that ends; nothing is written, so nothing is left to clean up.
 */

import { DatabaseSync } from "node:sqlite";
import { explainOpening, isBusy, SqliteStoreError } from "./errors.ts";
import { type Location, locationOf, makeDirectory, preparePrivateFile } from "./location.ts";

export interface DirectoryLock {
  release(): void;
}

/** For a relay whose store is elsewhere: what else lies in its data directory is one relay's too. */
export function lockDataDirectory(directory: string): DirectoryLock {
  const location = locationOf(directory);
  makeDirectory(location.directory);
  return lockDirectory(location);
}

export function lockDirectory(location: Location): DirectoryLock {
  preparePrivateFile(location.lock);
  const db = new DatabaseSync(location.lock, { timeout: 0 });
  try {
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if (!isBusy(error)) throw explainOpening(error, location.lock);
    throw new SqliteStoreError(
      "in_use",
      `The data directory ${location.directory} is in use by another relay. Stop that one, or start this one with another directory (--data).`,
      error,
    );
  }
  return { release: () => db.close() };
}
