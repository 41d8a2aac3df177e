/**
 * How sure one can be of a share of successes: Wilson's interval, which holds its 95 % for few attempts too, and what it says
 * of a claim. The number of attempts may be fractional, where older ones weigh less.
 */

/** Of the standard normal distribution: 95 % lie within so many deviations. */
const z = 1.959963984540054;
const z2 = z * z;
/** Bounds are told with so many decimals, rounded outwards: what is told is never narrower than what is known. */
const precision = 1e6;
/** Of a claim near 1, one failure would already be too many for the interval: a few bad moments are no proof. */
const least_to_breach = 5;

export interface Interval {
  readonly lower: number;
  readonly upper: number;
}

/** A share of successes with what was claimed of it. `unclaimed`: nobody said anything. */
export type Verdict = "verified" | "breached" | "unproven" | "unclaimed";

export function wilson(successes: number, n: number): Interval {
  if (n <= 0) return { lower: 0, upper: 1 };
  const share = Math.min(1, successes / n);
  const middle = share + z2 / (2 * n);
  const spread = z * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n * n));
  const whole = 1 + z2 / n;
  return { lower: Math.max(0, (middle - spread) / whole), upper: Math.min(1, (middle + spread) / whole) };
}

export function roundedOutwards({ lower, upper }: Interval): Interval {
  return { lower: Math.floor(lower * precision) / precision, upper: Math.ceil(upper * precision) / precision };
}

/** The whole interval has to lie on one side of the claim; until then nothing is proven. `n`: by so many attempts. */
export function verdictOf({ lower, upper }: Interval, n: number, claim: number | null): Verdict {
  if (claim === null) return "unclaimed";
  if (lower >= claim) return "verified";
  return upper < claim && n >= least_to_breach ? "breached" : "unproven";
}
