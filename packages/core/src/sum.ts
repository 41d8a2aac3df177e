/** Sums of what agents report. Whoever reports without bounds makes no number that JSON does not hold exactly: there the sum stands still. */

import type { Usage } from "./handoff.ts";

export function plus(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}

export function added(one: Usage, other: Usage): Usage {
  return { cost: plus(one.cost, other.cost), tokens: plus(one.tokens, other.tokens) };
}
