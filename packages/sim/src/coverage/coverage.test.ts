/** Coverage: what is counted, what is missing, and what cannot be. */

import { expect, test } from "vitest";
import { Coverage } from "./coverage.ts";
import { gapsOf } from "./gaps.ts";
import { isFaultReachable, isStateReachable } from "./reachable.ts";
import { commands, faults, rows, states } from "./rows.ts";
import { faultTable, stateTable } from "./tables.ts";

/** As if everything that can happen had happened once. */
function full(): Coverage {
  const coverage = new Coverage();
  for (const state of states) {
    for (const command of commands) if (isStateReachable(state, command)) coverage.decided(state, command, false);
  }
  for (const row of rows) for (const fault of faults) if (isFaultReachable(row, fault)) coverage.hit(row, fault);
  return coverage;
}

test("a run that exercised everything has no gap", () => {
  expect(gapsOf(full().counts())).toEqual({ empty: [], impossible: [] });
});

test("an empty cell is named", () => {
  const counts = full().counts();
  const at = states.indexOf("parked") * commands.length + commands.indexOf("cancel");
  expect(gapsOf({ ...counts, done: counts.done.with(at, 0) }).empty).toEqual(["cancel while parked"]);
});

test("a cell that cannot be reached and was is named", () => {
  const coverage = full();
  coverage.decided("blocked", "deliver", true);
  coverage.hit("tick", "request lost");
  expect(gapsOf(coverage.counts()).impossible).toEqual(["deliver while blocked", "tick × request lost"]);
});

test("counts of several threads add up", () => {
  const coverage = full();
  coverage.addAll(full().counts());
  expect(coverage.counts().done.reduce((sum, count) => sum + count, 0)).toBe(
    2 *
      full()
        .counts()
        .done.reduce((sum, count) => sum + count, 0),
  );
});

test("the tables have a line for every command, and columns that line up", () => {
  const [head, ...lines] = stateTable(full().counts());
  expect(lines).toHaveLength(commands.length);
  expect(new Set([head, ...lines].map((line) => line?.length))).toEqual(new Set([head?.length]));
  expect(faultTable(full().counts())).toHaveLength(rows.length + 2);
});
