import { expect, test } from "vitest";
import type { Surroundings } from "./surroundings.ts";
import { Untaken } from "./untaken.ts";

/** A clock that is set by hand, and what was left by it. Clocks of nodes are taken to differ by 15 ms. */
function begin(stays_ms: number) {
  let now = 0;
  const due: { at: number; callback: () => void }[] = [];
  const surroundings: Surroundings = {
    now: () => now,
    random: () => 0,
    randomBytes: (count) => new Uint8Array(count),
    schedule: (delay_ms, callback) => {
      due.push({ at: now + delay_ms, callback });
      return () => {};
    },
    defer: (callback) => callback(),
  };
  const left: string[] = [];
  const untaken = new Untaken(surroundings, stays_ms, (queues) => {
    for (const { queue } of queues) left.push(`${now} ${queue}`);
  });
  const pass = (until: number) => {
    for (;;) {
      const next = due.toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > until) break;
      due.splice(due.indexOf(next), 1);
      now = next.at;
      next.callback();
    }
    now = until;
  };
  return { untaken, left, pass };
}

test("what nobody took is left to all once its moment is over, each at its own time", () => {
  const { untaken, left, pass } = begin(35);
  untaken.put("default", "a", "first");
  pass(20);
  untaken.put("default", "b", "second");
  pass(200);
  expect(left).toEqual(["50 first", "70 second"]);
});

test("what was taken meanwhile is left to nobody", () => {
  const { untaken, left, pass } = begin(35);
  untaken.put("default", "a", "first");
  untaken.put("default", "b", "second");
  pass(10);
  untaken.taken("default", "a");
  pass(200);
  expect(left).toEqual(["50 second"]);
});

test("where some of it is said to be anybody's all of it is looked for, and once more what may not have been", () => {
  const { untaken, left, pass } = begin(35);
  untaken.put("default", "a", "first");
  pass(10);
  untaken.some();
  pass(200);
  expect(left).toEqual(["10 first", "50 first"]);
});
