/** What directory and identity ask of the store: small named records, loaded at start and written through the engine. */

import type { RecordWrite, StoredRecord } from "@handfast/engine";

/** One namespace of the engine's `putRecords` and the store's `records`. */
export interface Records {
  load(kind: string): Promise<readonly StoredRecord[]>;
  /** All of them or none. False: a version was not as expected. */
  put(writes: readonly RecordWrite[]): Promise<boolean>;
}
