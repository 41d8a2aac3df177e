import { expect, test } from "vitest";
import { VirtualClock } from "./virtual-clock.ts";

function firing(clock: VirtualClock): string[] {
  const fired: string[] = [];
  for (const [name, ms] of Object.entries({ late: 300, early: 100, middle: 200, "middle too": 200 })) {
    clock.after(ms, () => fired.push(`${name} at ${clock.now()}`));
  }
  return fired;
}

test("timers go off at their own moments, in order, those of one moment as they were set", () => {
  const clock = new VirtualClock(1_000);
  const fired = firing(clock);
  while (clock.fireNext(2_000));
  expect(fired).toEqual(["early at 1100", "middle at 1200", "middle too at 1200", "late at 1300"]);
});

test("a timer beyond the given moment stays, and the clock stays before it", () => {
  const clock = new VirtualClock(1_000);
  const fired = firing(clock);
  while (clock.fireNext(1_150));
  expect(fired).toEqual(["early at 1100"]);
  expect(clock.now()).toBe(1_100);
  expect(clock.nextAt()).toBe(1_200);
});

test("a timer that was called off does not go off", () => {
  const clock = new VirtualClock(0);
  const fired: string[] = [];
  const callOff = clock.after(10, () => fired.push("called off"));
  callOff();
  expect(clock.fireNext(1_000)).toBe(false);
  expect(fired).toEqual([]);
});

test("a timer that is set while another goes off has its own moment", () => {
  const clock = new VirtualClock(0);
  const fired: number[] = [];
  const beat = () => {
    fired.push(clock.now());
    if (fired.length < 3) clock.after(10, beat);
  };
  clock.after(10, beat);
  while (clock.fireNext(1_000));
  expect(fired).toEqual([10, 20, 30]);
});

test("time never goes back, and its milliseconds are whole", () => {
  const clock = new VirtualClock(500);
  clock.moveTo(100);
  expect(clock.now()).toBe(500);
  clock.after(0.4, () => {});
  clock.fireNext(1_000);
  expect(clock.now()).toBe(501);
});
