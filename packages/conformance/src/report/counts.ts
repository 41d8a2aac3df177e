/** How many promises were kept and how many not; each counts once, over however many transports. */

import { type ConformanceReport, outcomeOf, type Verdict } from "../run/verdict.ts";

export function countsOf({ tried }: ConformanceReport): Readonly<Record<Verdict["outcome"], number>> {
  const counts = { kept: 0, broken: 0, skipped: 0, not_tried: 0 };
  for (const ofCheck of Map.groupBy(tried, ({ check }) => check.id).values()) {
    counts[outcomeOf(ofCheck.map(({ verdict }) => verdict))] += 1;
  }
  return counts;
}
