import { array, assert, constant, double, integer, oneof, property } from "fast-check";
import { expect, test } from "vitest";
import { Decay } from "./decay.ts";
import { LatencyHistogram } from "./latency-histogram.ts";

const day = 86_400_000;
const decay = new Decay(day);

function of(values: readonly number[], at = 0): LatencyHistogram {
  const histogram = new LatencyHistogram();
  for (const value of values) histogram.add(at, value, decay);
  return histogram;
}

function exact(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

test("a quantile is at most a tenth off, or half a millisecond", () => {
  const took = oneof(
    integer({ min: 1, max: 100 }),
    integer({ min: 1, max: 100_000 }),
    double({ min: 1, max: 90_000, noNaN: true }),
  );
  assert(
    property(array(took, { minLength: 1, maxLength: 200 }), oneof(constant(0.5), constant(0.95)), (values, share) => {
      const truth = exact(values, share);
      const told = of(values).quantile(share) ?? Number.NaN;
      expect(Math.abs(told - truth)).toBeLessThanOrEqual(0.1 * truth + 0.5);
    }),
  );
});

test("nothing measured is no latency, and no time at all is one millisecond at most", () => {
  expect(of([]).quantile(0.5)).toBeNull();
  expect(of([0, 0, 0]).quantile(0.95)).toBe(1);
});

test("it holds 64 buckets at most, whatever comes, and what is long stays exact", () => {
  const histogram = of([30 * day, 1, 5, 50, 500, 5_000, 50_000, day]);
  const { weights } = histogram.stored();
  expect(weights.length).toBeLessThanOrEqual(64);
  expect(weights.reduce((sum, weight) => sum + weight)).toBe(8);
  expect((histogram.quantile(0.95) ?? 0) / (30 * day)).toBeCloseTo(1, 0);
  expect((histogram.quantile(0.85) ?? 0) / day).toBeCloseTo(1, 0);
});

test("what is old gives way to what is new", () => {
  const histogram = of(Array.from({ length: 100 }, () => 60_000));
  for (let index = 0; index < 10; index += 1) histogram.add(5 * day, 10, decay);
  expect(histogram.quantile(0.5)).toBeLessThan(12);
  // Where room is needed, what has faded makes it.
  histogram.add(60 * day, 5, decay);
  expect(histogram.stored().weights.length).toBe(1);
  histogram.add(1_100 * day, 5, decay);
  expect(histogram.quantile(0.95)).toBe(5);
});

test("what was stored goes on to the last bit", () => {
  const whole = new LatencyHistogram();
  let broken = new LatencyHistogram();
  for (let index = 0; index < 300; index += 1) {
    const [at, took] = [index * 7_919_000, (index * 7_727) % 40_009];
    whole.add(at, took, decay);
    broken.add(at, took, decay);
    broken = new LatencyHistogram(JSON.parse(JSON.stringify(broken.stored())));
  }
  expect(broken.stored()).toEqual(whole.stored());
});
