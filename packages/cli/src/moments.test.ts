import { expect, test } from "vitest";
import { ago, ahead, exactly, moment, span } from "./moments.ts";

const noon = Date.UTC(2026, 10, 15, 12);

test.each([
  [0, "0 ms"],
  [14.4, "14 ms"],
  [999, "999 ms"],
  [1_000, "1 s"],
  [3_240, "3.2 s"],
  [59_400, "59 s"],
  [60_000, "1 min"],
  [245_000, "4 min 5 s"],
  [7_380_000, "2 h 3 min"],
  [273_600_000, "3 d 4 h"],
  [-5, "0 ms"],
])("a span of %d ms is %s", (ms, words) => {
  expect(span(ms)).toBe(words);
});

test("what was less than a second ago is just now", () => {
  expect(ago(noon - 999, noon)).toBe("just now");
  expect(ago(noon - 3_000, noon)).toBe("3 s ago");
});

test("a relay whose clock is ahead does not make the past negative", () => {
  expect(ago(noon + 500, noon)).toBe("just now");
  expect(ago(noon + 5_000, noon)).toBe("in 5 s");
});

test("what is ahead is told from now", () => {
  expect(ahead(noon + 12_000, noon)).toBe("in 12 s");
  expect(ahead(noon - 1, noon)).toBe("now");
});

test("a moment of another day names the day", () => {
  expect(moment(noon + 60_000, noon)).toBe("12:01:00Z (in 1 min)");
  expect(moment(noon + 86_400_000, noon)).toBe("2026-11-16 12:00:00Z (in 1 d)");
});

test("exact times have milliseconds", () => {
  expect(exactly(noon + 7)).toBe("2026-11-15 12:00:00.007Z");
});
