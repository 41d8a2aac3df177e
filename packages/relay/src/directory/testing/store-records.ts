/** The records of a real store in memory, without an engine before it: tests of the directory commit one by one. */

import type { RecordWrite, Store, StoredRecord } from "@handfast/engine";
import { openSqliteStore } from "@handfast/store-sqlite";
import type { Records } from "../records.ts";

export class StoreRecords implements Records {
  /** How many commits there were. */
  puts = 0;
  private readonly store: Store;

  private constructor(store: Store) {
    this.store = store;
  }

  static async open(): Promise<StoreRecords> {
    return new StoreRecords(await openSqliteStore({ memory: true }));
  }

  load(kind: string): Promise<readonly StoredRecord[]> {
    return this.store.records("default", kind);
  }

  find(kind: string, key: string): Promise<StoredRecord | null> {
    return this.store.record("default", kind, key);
  }

  async put(records: readonly RecordWrite[]): Promise<boolean> {
    this.puts++;
    const [result] = await this.store.commit([{ writes: [], records }]);
    return result === "ok";
  }
}
