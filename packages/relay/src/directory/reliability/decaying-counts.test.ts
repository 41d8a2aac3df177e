import { expect, test } from "vitest";
import { nearest, windowsOf } from "./decay.ts";
import { DecayingCounts } from "./decaying-counts.ts";

const hour = 3_600_000;
const day = 24 * hour;
const windows = windowsOf(day);
const own = nearest(windows, day);

test("after a half-life an attempt weighs half, after two a quarter", () => {
  const counts = new DecayingCounts(windows);
  counts.add(0, true);
  counts.add(0, false);
  expect(counts.by(day, own)).toEqual({ n: 1, successes: 0.5 });
  expect(counts.by(day / 2, own).n).toBeCloseTo(Math.SQRT2);
  counts.add(day, true);
  expect(counts.by(2 * day, own)).toEqual({ n: 1, successes: 0.75 });
});

test("a steady agent's count settles: what is new makes up for what fades", () => {
  const counts = new DecayingCounts(windows);
  for (let at = 0; at < 30 * day; at += hour) counts.add(at, true);
  const { n } = counts.by(30 * day, own);
  // An attempt each hour, over the mean life of a day and a bit.
  expect(n).toBeGreaterThan(33);
  expect(n).toBeLessThan(36);
});

test("every window counts by its own half-life, and the nearest to what is asked for answers", () => {
  const counts = new DecayingCounts(windows);
  counts.add(0, true);
  for (const [window, { half_life_ms }] of windows.entries()) expect(counts.by(half_life_ms, window).n).toBe(0.5);
  expect(windows.map(({ half_life_ms }) => half_life_ms / hour)).toEqual([1, 6, 24, 168, 720]);
  const asked = [60_000, 2 * hour, 8 * hour, 20 * hour, 3 * day, 90 * day];
  const answering = asked.map((window) => windows[nearest(windows, window)]?.half_life_ms ?? 0);
  expect(answering.map((half_life_ms) => half_life_ms / hour)).toEqual([1, 1, 6, 24, 168, 720]);
});

test("what was stored goes on to the last bit", () => {
  const whole = new DecayingCounts(windows);
  let broken = new DecayingCounts(windows);
  for (let at = 1; at < 1e9; at = Math.ceil(at * 1.7)) {
    whole.add(at, at % 3 > 0);
    broken.add(at, at % 3 > 0);
    broken = new DecayingCounts(windows, JSON.parse(JSON.stringify(broken.stored())));
  }
  expect(broken.stored()).toEqual(whole.stored());
});

test("a scale that begins anew changes nothing", () => {
  const counts = new DecayingCounts(windows);
  // The shortest window's scale begins anew every 512 hours.
  const border = 90_000 * 512 * hour;
  counts.add(border - hour, true);
  counts.add(border, true);
  counts.add(border + 2 * hour, false);
  const { n, successes } = counts.by(border + 2 * hour, 0);
  expect([n, successes]).toEqual([1 / 8 + 1 / 4 + 1, 1 / 8 + 1 / 4]);
  expect(counts.by(border + 512 * hour, 0).n).toBeCloseTo(0);
});

test("time that seems to go back changes no weight", () => {
  const counts = new DecayingCounts(windows);
  counts.add(day, true);
  counts.add(0, true);
  expect(counts.by(day, own).n).toBe(2);
});
