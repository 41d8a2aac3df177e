/** What a directory is given: its records, its clock, and whom it asks and tells. */

import type { Time } from "@handfast/core";
import type { RelayLimits } from "../limits.ts";
import type { Schemas } from "../schemas/schemas.ts";
import type { SignsShared } from "./presence.ts";
import type { Records } from "./records.ts";

export interface DirectoryOptions {
  readonly namespace: string;
  readonly records: Records;
  readonly schemas: Schemas;
  readonly now: () => Time;
  readonly limits?: RelayLimits;
  /** Whether this worker waits for work here at this moment. */
  readonly isAsking?: (agent: string, worker: string) => boolean;
  readonly shared?: SignsShared | undefined;
  /** Told of what a person should know, though nobody's call failed. */
  readonly warn?: (about: Readonly<Record<string, unknown>>, message: string) => void;
}
