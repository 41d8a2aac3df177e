/**
 * All that a store keeps, row by row and in one order, the same for every store: what moves from one into another. Whatever
 * a store keeps only to find these sooner (counts, indexes, labels) is not among them: it is made anew.
 */

import type { Findable, Handoff, Time } from "@handfast/core";
import type { Body } from "./store.ts";

export type Kept =
  /** First, and once: what is left of events that were pruned. */
  | { readonly table: "log"; readonly floor: number; readonly latest: Time }
  /** By namespace, kind and key. `json` is its value. */
  | {
      readonly table: "record";
      readonly namespace: string;
      readonly kind: string;
      readonly key: string;
      readonly version: number;
      readonly json: string;
    }
  /** By `pos`, the place of its accept in the log. */
  | {
      readonly table: "handoff";
      readonly pos: number;
      readonly handoff: Handoff;
      readonly find: Findable;
      /** The body that it was accepted with. */
      readonly body: Body | null;
      readonly artifacts: readonly string[];
    }
  /** Another body, after the handoff of this `pos`, in the order they came. */
  | { readonly table: "body"; readonly pos: number; readonly body: Body }
  /** The key of a handoff that was purged. By namespace, sender and key. */
  | {
      readonly table: "key";
      readonly namespace: string;
      readonly sender: string;
      readonly key: string;
      readonly id: string;
      readonly content: string;
      readonly until: Time;
    }
  /** By `pos`. `json` is exactly as it was first written. */
  | {
      readonly table: "event";
      readonly pos: number;
      readonly namespace: string;
      readonly handoff: string;
      /** Null: the handoff's own id. */
      readonly correlation_id: string | null;
      readonly at: Time;
      readonly json: string;
    };

export type KeptTable = Kept["table"];
export type KeptOf<Table extends KeptTable> = Extract<Kept, { readonly table: Table }>;

/** A store that nobody else has open, as a whole. */
export interface KeptStore {
  /** Where it is, as it may be shown. */
  readonly place: string;
  readonly kind: "sqlite" | "postgres";
  /** The number of its schema. */
  readonly schema: number;
  /** How many rows there are of each. */
  counts(): Promise<Readonly<Record<KeptTable, number>>>;
  /** All of it, as it was at one moment. */
  read(): AsyncIterable<Kept>;
  /**
   * Writes all of it, in one transaction, into a store that is empty. `check` is shown what was written, read back; where it
   * throws, or anything else does, nothing is written.
   */
  fill(rows: AsyncIterable<Kept>, check: (written: AsyncIterable<Kept>) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}
