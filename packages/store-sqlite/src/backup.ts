/** A consistent copy of a running store in a new file. */

import { rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { backup } from "node:sqlite";
import { type Connection, openReader } from "./connection.ts";
import { SqliteStoreError } from "./errors.ts";
import { backup_pages } from "./limits.ts";
import { createPrivateFile, makeDirectory } from "./location.ts";

export type BackupProgress = (done: number, total: number) => void;

/**
 * Runs on the reader thread, over a connection of its own whose read transaction holds still what is copied: without
 * it the copy would begin anew with each commit. (Over the writer's own connection Node's `backup` failed under
 * load with "not an error": tried with Node 24.21.)
 */
export async function copyFile(database: string, path: string, progress: BackupProgress): Promise<void> {
  await newFile(path, async () => {
    const source = openReader(database);
    try {
      source.db.exec("BEGIN; SELECT floor FROM log");
      await backup(source.db, path, {
        rate: backup_pages,
        progress: ({ totalPages, remainingPages }: { totalPages: number; remainingPages: number }) =>
          progress(totalPages - remainingPages, totalPages),
      });
    } finally {
      source.close();
    }
  });
}

export async function copyMemory(connection: Connection, path: string, progress: BackupProgress): Promise<void> {
  const bytes = connection.db.serialize();
  await newFile(path, async () => writeFileSync(path, bytes, { flush: true }));
  progress(bytes.length, bytes.length);
}

async function newFile(path: string, write: () => Promise<void>): Promise<void> {
  makeDirectory(dirname(resolve(path)));
  if (!createPrivateFile(path)) {
    throw new SqliteStoreError("exists", `The backup ${path} exists already: give the name of a new file.`);
  }
  try {
    await write();
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}
