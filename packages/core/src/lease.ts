/** What a lease says about the attempt it carries. */

import type { Lease } from "./handoff.ts";

/** How many counted attempts it carries: its ack counted one, or went on with one that was counted before. */
export function countedBy(lease: Lease): 0 | 1 {
  return lease.acknowledged_at === null ? 0 : 1;
}
