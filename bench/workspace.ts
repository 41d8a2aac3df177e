/** Where a run keeps its data: a folder on a real disk, gone when the run is over, however it ends. */

import { chmodSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DriverProcess } from "./drive/driver-process.ts";
import { cacheFolder } from "./obtain/cache.ts";
import { ServerProcess } from "./servers/server-process.ts";

/** statfs(2)'s mark of a file system in memory, where a sync costs nothing and proves nothing. */
const tmpfs = 0x01021994;

export interface Workspace {
  readonly directory: string;
  /** False: syncs cost nothing here, and the figures say nothing about a disk. */
  readonly on_disk: boolean;
  /** An empty folder that servers under another user can reach too. */
  folder(name: string): string;
  remove(path: string): void;
  close(): void;
}

export function openWorkspace(asked: string | null): Workspace {
  const parent = asked ?? (isOnDisk(tmpdir()) ? tmpdir() : cacheFolder("data"));
  mkdirSync(parent, { recursive: true });
  const directory = mkdtempSync(join(parent, "handfast-bench-"));
  chmodSync(directory, 0o755);
  let number = 0;
  const remove = (path: string) => rmSync(path, { recursive: true, force: true });
  const close = () => {
    DriverProcess.killAll();
    ServerProcess.killAll();
    remove(directory);
  };
  process.once("exit", close);
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => process.exit(signal === "SIGINT" ? 130 : 143));
  }
  return {
    directory,
    on_disk: isOnDisk(directory),
    folder: (name) => {
      number += 1;
      const path = join(directory, `${number}-${name}`);
      mkdirSync(path);
      chmodSync(path, 0o755);
      return path;
    },
    remove,
    close,
  };
}

function isOnDisk(path: string): boolean {
  return statfsSync(path).type !== tmpfs;
}
