/** What directory and identity ask of the store: small named records, most loaded at start, written through the engine. */

import type { RecordWrite, StoredRecord } from "@handfast/engine";

/** One namespace of the engine's `putRecords` and the store's `records`. */
export interface Records {
  load(kind: string): Promise<readonly StoredRecord[]>;
  find(kind: string, key: string): Promise<StoredRecord | null>;
  /** All of them or none. False: a version was not as expected. */
  put(writes: readonly RecordWrite[]): Promise<boolean>;
}
