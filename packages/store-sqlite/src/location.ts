/** Where a store lives: a directory of its owner alone, and the files in it. */

import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, statfsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The database's name inside the directory; a backup put there under this name is a store. */
export const databaseName = "handfast.db";
const lockName = "handfast.lock";

export interface Location {
  readonly directory: string;
  readonly database: string;
  readonly lock: string;
}

export function locationOf(directory: string): Location {
  const absolute = resolve(directory);
  return { directory: absolute, database: join(absolute, databaseName), lock: join(absolute, lockName) };
}

export function prepareLocation(directory: string): Location {
  const location = locationOf(directory);
  makeDirectory(location.directory);
  chmodSync(location.directory, 0o700);
  return location;
}

/** Makes sure of a folder. A new one's name is safe once the folder that holds it is synced: so for each on the way down. */
export function makeDirectory(absolute: string): void {
  const first = mkdirSync(absolute, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = absolute; made.length >= first.length; made = dirname(made)) syncDirectory(dirname(made));
}

/** Makes sure of a file for its owner alone. */
export function preparePrivateFile(path: string): void {
  if (!createPrivateFile(path)) chmodSync(path, 0o600);
}

/**
 * Creates a file for its owner alone; false: there is one already. That one is never opened here: closing any
 * descriptor of it would drop the POSIX locks that SQLite holds on it in this process.
 */
export function createPrivateFile(path: string): boolean {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!isExists(error)) throw error;
    return false;
  }
  // SQLite syncs the directory for its logs, not for the database itself: without this a power loss can undo the name.
  syncDirectory(dirname(path));
  return true;
}

function isExists(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EEXIST";
}

export function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

export function usedBytes(database: string): number {
  return sizeOf(database) + sizeOf(`${database}-wal`);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
