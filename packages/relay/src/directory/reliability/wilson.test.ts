import { describe, expect, test } from "vitest";
import { roundedOutwards, verdictOf, wilson } from "./wilson.ts";

describe("Wilson's interval", () => {
  test.each([
    [73, 73, 0.95, 1],
    [95, 100, 0.888, 0.979],
    [90, 100, 0.826, 0.945],
    [0, 0, 0, 1],
    [0, 10, 0, 0.278],
    [1, 2, 0.095, 0.905],
  ])("of %i successes in %i attempts is %d to %d", (successes, n, lower, upper) => {
    const interval = wilson(successes, n);
    expect(Math.abs(interval.lower - lower)).toBeLessThan(0.001);
    expect(Math.abs(interval.upper - upper)).toBeLessThan(0.001);
  });

  test("narrows with every further attempt, fractions of one included", () => {
    let width = 1;
    for (let n = 0.25; n < 200; n *= 1.5) {
      const { lower, upper } = wilson(0.9 * n, n);
      expect(upper - lower).toBeLessThan(width);
      width = upper - lower;
    }
  });

  test("is rounded outwards, and stays between nothing and all", () => {
    const exact = wilson(95, 100);
    const told = roundedOutwards(exact);
    expect(told.lower).toBeLessThanOrEqual(exact.lower);
    expect(told.upper).toBeGreaterThanOrEqual(exact.upper);
    expect(roundedOutwards(wilson(1e9, 1e9)).upper).toBe(1);
    expect(roundedOutwards(wilson(0, 1e9)).lower).toBe(0);
  });
});

describe("the verdict on a claim of 0.95", () => {
  test.each([
    [73, 73, "verified"],
    [72, 72, "unproven"],
    [95, 100, "unproven"],
    [90, 100, "breached"],
    [0, 0, "unproven"],
    [0, 4, "unproven"],
    [0, 5, "breached"],
  ] as const)("%i of %i: %s", (successes, n, verdict) => {
    expect(verdictOf(roundedOutwards(wilson(successes, n)), n, 0.95)).toBe(verdict);
  });

  test("nobody who claims nothing breaches anything", () => {
    expect(verdictOf(wilson(0, 1_000), 1_000, null)).toBe("unclaimed");
  });
});
