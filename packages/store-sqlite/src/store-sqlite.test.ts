import { mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "@handfast/engine";
import { describeStore } from "../../engine/src/store.conformance.ts";
import { databaseName, openSqliteStore } from "./mod.ts";

describeStore("SQLite in memory", async () => {
  const store = await openSqliteStore({ memory: true });
  return { store, close: () => store.close() };
});

describeStore("SQLite in a directory", async () => {
  const root = mkdtempSync(join(tmpdir(), "handfast-store-"));
  const directory = join(root, "store");
  let store = await openSqliteStore({ directory });
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openSqliteStore({ directory });
      return store;
    },
    copy: async () => {
      const copied = join(root, "copy.db");
      await store.backup(copied);
      return openCopy(root, copied);
    },
    close: async () => {
      await store.close();
      rmSync(root, { recursive: true });
    },
  };
});

async function openCopy(root: string, file: string): Promise<Store> {
  const directory = join(root, "restored");
  mkdirSync(directory);
  renameSync(file, join(directory, databaseName));
  return openSqliteStore({ directory });
}
