/**
 * What one check may cost. Work is counted while it is done, not guessed from sizes before: a large schema over a large
 * payload is cheap as long as few of its parts meet few of its values, and honest ones are like that.
 */

/** Steps; one takes about a nanosecond at worst. Measured with the attacks in attacks.test.ts. */
export const costs = {
  /** A part of a schema that is tried on a value and leaves no error behind. */
  visit: 40,
  /** A branch that may fail without ending the check: its errors are kept until another branch fits. */
  branch: 250,
  /** A name looked up in an object. */
  name: 40,
  /** A member of an object that is walked over. */
  member: 500,
  /** A character that is counted. */
  char: 4,
  /** A value compared as a whole, besides its characters. */
  compared_value: 300,
  /** The same for a list or an object, besides what is in it. */
  compared_compound: 1_000,
  compared_member: 1_500,
  compared_char: 8,
  /** A number held against a divisor that is not whole: exactly, in decimals. */
  divided: 3_000,
} as const;

export function multipleCost(of: number): number {
  return Number.isInteger(of) ? 0 : costs.divided;
}

/** Thrown out of a running check: the value is neither fit nor unfit, it would take too long to tell. */
export class TooCostly extends Error {}

export class Meter {
  private readonly most: number;
  private used = 0;

  constructor(steps: number) {
    this.most = steps;
  }

  get spent(): number {
    return this.used;
  }

  spend(steps: number): void {
    this.used += steps;
    if (this.used > this.most) throw new TooCostly();
  }
}

/** Compiled code is made once and holds this; each check puts its own meter in. */
export class MeterSlot {
  private meter = new Meter(Number.POSITIVE_INFINITY);

  use(meter: Meter): void {
    this.meter = meter;
  }

  spend(steps: number): void {
    this.meter.spend(steps);
  }
}
