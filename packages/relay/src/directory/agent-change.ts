/** A change of one agent, and of whatever must be committed with it. */

import type { Costs as CostOpenings } from "@handfast/protocol";
import type { AgentRecord } from "./agent.ts";
import type { Offers } from "./manifests.ts";
import type { Change } from "./record-table.ts";

/** What becomes of an agent in one commit. */
export interface AgentChange {
  readonly agent: Omit<AgentRecord, "manifest">;
  /** Null: it offers what it offered before. */
  readonly offers: (Offers & { readonly costs?: CostOpenings | undefined }) | null;
  /** Other records to be written with it. */
  readonly also: readonly Change[];
}
