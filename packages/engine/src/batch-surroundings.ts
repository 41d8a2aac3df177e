/** What a batch is made in: what is stored and remembered, the rules, chance, and what is known of the others. */

import type { CoreLimits, Duration, Handoff, Time } from "@handfast/core";
import type { BodyCache } from "./body-cache.ts";
import type { HandoffCache } from "./cache.ts";
import type { Store } from "./store.ts";

export interface BatchSurroundings {
  readonly store: Store;
  readonly cache: HandoffCache;
  readonly bodies: BodyCache;
  readonly limits: CoreLimits;
  readonly resumed_at: Time;
  readonly random: () => number;
  /** How many agents besides this one and those excluded offer what the handoff needs. */
  readonly others: (handoff: Handoff, besides: string) => number;
  /** How many handoffs this sender has open. */
  readonly openOf: (namespace: string, from: string) => number;
  /** For how long the provider of a handoff under a contract worked for its asker while it waited; null: not known. */
  readonly askerWork: (handoff: Handoff, now: Time) => Duration | null;
}
