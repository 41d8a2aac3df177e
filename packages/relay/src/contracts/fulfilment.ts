/** How often a contract was kept and broken: added up from what the ends of its handoffs say. */

import type { ContractVerdict } from "@handfast/core";
import { type Interval, roundedOutwards, wilson } from "../directory/reliability/wilson.ts";

export interface Counts {
  readonly fulfilled: number;
  readonly breaches: number;
  readonly uncounted: number;
  /** Of breaches and of what was not counted. */
  readonly by_reason: Readonly<Record<string, number>>;
}

export const nothingCounted: Counts = { fulfilled: 0, breaches: 0, uncounted: 0, by_reason: {} };

export function counted(before: Counts, { verdict, why }: ContractVerdict): Counts {
  return {
    fulfilled: before.fulfilled + (verdict === "fulfilled" ? 1 : 0),
    breaches: before.breaches + (verdict === "breach" ? 1 : 0),
    uncounted: before.uncounted + (verdict === "uncounted" ? 1 : 0),
    by_reason: why === null ? before.by_reason : { ...before.by_reason, [why]: (before.by_reason[why] ?? 0) + 1 },
  };
}

/** The share of fulfilment lies in it with 95 % confidence. */
export function intervalOf({ fulfilled, breaches }: Counts): Interval {
  return roundedOutwards(wilson(fulfilled, fulfilled + breaches));
}
