/** Prices: whether one is more than somebody is willing to pay, and how it is read out. */

import type { Cost } from "@handfast/protocol";

/** A price by another measure cannot be compared: it counts as more. No price at all is no promise to stay below one. */
export function dearer(cost: Cost | null, most: Cost | null): boolean {
  if (most === null) return false;
  return cost === null || cost.per !== most.per || cost.amount > most.amount;
}

export function priceWords({ amount, per }: Cost): string {
  return `${amount} per ${per === "handoff" ? "handoff" : "thousand tokens"}`;
}
