import { expect, test } from "vitest";
import { mostEjected, Streak } from "./streak.ts";

const second = 1_000;
const rules = { ejection_failures: 5, ejection_ms: 30 * second, ejection_most_ms: 300 * second };

function fail(streak: Streak, times: number, at: number): boolean {
  let ejected = false;
  for (let index = 0; index < times; index += 1) ejected = streak.failed(at, rules);
  return ejected;
}

test("five failures in a row leave it out for 30 seconds, four and a success do not", () => {
  const streak = new Streak();
  expect(fail(streak, 4, 0)).toBe(false);
  streak.succeeded(0);
  expect(fail(streak, 4, 0)).toBe(false);
  expect(fail(streak, 1, 7 * second)).toBe(true);
  expect(streak.ejected_until).toBe(37 * second);
});

test("each time it comes back no better it is left out for longer, up to five minutes", () => {
  const streak = new Streak();
  const lasted: number[] = [];
  for (let at = 0; lasted.length < 12; at = streak.ejected_until) {
    fail(streak, 5, at);
    lasted.push((streak.ejected_until - at) / second);
  }
  expect(lasted).toEqual([30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 300, 300]);
});

test("a success takes one of these times back", () => {
  const streak = new Streak();
  for (let times = 0; times < 3; times += 1) fail(streak, 5, streak.ejected_until);
  const back = streak.ejected_until;
  streak.succeeded(back);
  streak.succeeded(back);
  fail(streak, 5, back);
  expect(streak.ejected_until - back).toBe(60 * second);
});

test("what fails while it is left out was given before, and leads to nothing more", () => {
  const streak = new Streak();
  fail(streak, 5, 0);
  expect(fail(streak, 20, 10 * second)).toBe(false);
  expect(streak.failures).toBe(25);
  expect(fail(streak, 4, 30 * second)).toBe(false);
  expect(fail(streak, 1, 30 * second)).toBe(true);
});

test("a tenth may be left out, one of two always, the only one never", () => {
  expect([0, 1, 2, 10, 19, 20, 100].map((agents) => mostEjected(agents, 0.1))).toEqual([0, 0, 1, 1, 1, 2, 10]);
});
