import { expect, test } from "vitest";
import { PeakLatency } from "./peak-latency.ts";

const minute = 60_000;

test("follows a slow answer at once and quick ones slowly", () => {
  const peak = new PeakLatency();
  peak.add(0, 100, minute);
  peak.add(1_000, 5_000, minute);
  expect(peak.by(1_000, 100, minute)).toBe(5_000);
  peak.add(2_000, 100, minute);
  expect(peak.by(2_000, 100, minute)).toBeGreaterThan(4_500);
  for (let at = 2_000; at < 10 * minute; at += 1_000) peak.add(at, 100, minute);
  expect(peak.by(10 * minute, 100, minute)).toBeCloseTo(100, 0);
});

test("while nothing is heard it sinks to what is usual, so that whoever is spared is tried again", () => {
  const peak = new PeakLatency();
  peak.add(0, 10_000, minute);
  expect(peak.by(minute, 200, minute)).toBeCloseTo(200 + 9_800 / Math.E);
  expect(peak.by(60 * minute, 200, minute)).toBeCloseTo(200);
  expect(new PeakLatency().by(0, 200, minute)).toBeNull();
});
