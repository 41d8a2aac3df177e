/** Virtual time: what is earlier happens first, and nothing happens before what an earlier event set in motion is over. */

import { expect, test } from "vitest";
import { Timeline } from "./timeline.ts";

test("things happen by time, and at the same time in the order they were asked for", async () => {
  const timeline = new Timeline(1_000);
  const happened: string[] = [];
  const note = (name: string) => () => happened.push(`${name} at ${timeline.now}`);
  timeline.schedule(30, note("late"));
  timeline.schedule(10, note("first"));
  timeline.schedule(10, note("second"));
  timeline.schedule(20, note("never"))();
  expect(await timeline.run(() => false, 2_000)).toBe(false);
  expect(happened).toEqual(["first at 1010", "second at 1010", "late at 1030"]);
  expect(timeline.now).toBe(2_000);
});

test("time stands still until every promise that an event settled has had its say", async () => {
  const timeline = new Timeline(0);
  const happened: string[] = [];
  timeline.schedule(5, () => void deep(20).then(() => happened.push(`deep at ${timeline.now}`)));
  timeline.schedule(6, () => void happened.push("next"));
  await timeline.run(() => false, 10);
  expect(happened).toEqual(["deep at 5", "next"]);
});

test("a run ends as soon as its condition holds, and goes on from there", async () => {
  const timeline = new Timeline(0);
  let count = 0;
  const happen = () => {
    count += 1;
  };
  for (let at = 1; at <= 2_000; at += 1) timeline.schedule(at, happen);
  expect(await timeline.run(() => count === 1_500, 10_000)).toBe(true);
  expect(timeline.now).toBe(1_500);
  await timeline.run(() => false, 10_000);
  expect(count).toBe(2_000);
});

test("what an event throws ends the run", async () => {
  const timeline = new Timeline(0);
  timeline.schedule(1, () => {
    throw new Error("by the event");
  });
  await expect(timeline.run(() => false, 10)).rejects.toThrow("by the event");
});

async function deep(levels: number): Promise<void> {
  if (levels > 0) await deep(levels - 1);
}
