/** What directory and identity ask of the store: small named records, most loaded at start, written through the engine. */

import type { RecordWrite, StoredRecord } from "@handfast/engine";

/** One namespace of the engine's `putRecords` and the store's `records`. */
export interface Records {
  load(kind: string): Promise<readonly StoredRecord[]>;
  find(kind: string, key: string): Promise<StoredRecord | null>;
  /** All of them or none. False: a version was not as expected. */
  put(writes: readonly RecordWrite[]): Promise<boolean>;
  /** Absent: nobody else writes these records. */
  readonly others?: OtherWriters | undefined;
}

/** Other nodes, which write the same records. */
export interface OtherWriters {
  /** Tables in memory, by kind: each puts itself here when it is loaded. */
  readonly tables: Map<string, Taking>;
  /** Whatever others wrote until now is in memory when it resolves. Not to be waited for in a turn: it takes turns itself. */
  catchUp(): Promise<void>;
}

/** Takes over what another node made of a record; null: it is gone. */
export interface Taking {
  has(key: string): boolean;
  take(key: string, record: StoredRecord | null): void;
}
