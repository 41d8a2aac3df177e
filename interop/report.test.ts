/** What a reader of the matrix is told, and what not. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Row } from "./cast/row.ts";
import { Matrix } from "./matrix.ts";
import { input_schema, output_schema } from "./protocol.ts";
import { failuresOf, gapsOf, markdownOf, type Report } from "./report.ts";
import { rowOf } from "./rows.ts";
import type { Player } from "./run.ts";
import type { Scenario } from "./scenarios/scenario.ts";

function player(name: string, more: Partial<Row> = {}): Player {
  const never = () => Promise.reject(new Error("nobody plays here"));
  const limits = { sender_gaps: {}, worker_gaps: {}, signs: true, quick: true, begins_within_ms: 1, slots: 1 };
  const prepared = { versions: {}, openWorker: never, openSender: never };
  return { row: { name, title: name, ...limits, prepare: async () => prepared, ...more }, prepared };
}

function report(scenarios: readonly Scenario[], more: Partial<Report> = {}): Report {
  const players = [player("keyed"), player("tokened", { signs: false, note: "it is slow, because it thinks" })];
  return {
    matrix: new Matrix(() => {}),
    senders: players,
    workers: players,
    absent: new Map(),
    scenarios,
    conditions: "today",
    ...more,
  };
}

test("a gap is told of only where its scenario was tried", () => {
  expect(gapsOf(report(["plain"]))).toEqual([]);
  expect(gapsOf(report(["plain", "signatures"]))).toEqual([expect.stringContaining("tokened has a token and no key")]);
});

test("a reason that many cells failed for stands there once, with each of them", () => {
  const failed = report(["plain", "cancel"]);
  for (const scenario of failed.scenarios) {
    failed.matrix.put({ sender: "a", worker: "b", scenario, result: { is: "failed", why: "it ended:\nTraceback" } });
  }
  expect(failuresOf(failed)).toEqual([{ where: ["a → b, plain", "a → b, cancel"], why: "it ended:\nTraceback" }]);
  expect(markdownOf(failed)).toContain("\n- a → b, plain; a → b, cancel: it ended:\n");
  expect(markdownOf(failed)).not.toContain("Traceback");
});

test("what is not in the matrix is named with its reason: a row that did not run, an adapter without a row", () => {
  const text = markdownOf(report(["plain"], { absent: new Map([["openclaw", "there is no network"]]) }));
  const [, section = ""] = /## Not in this matrix\n([\s\S]*?)\n## /.exec(text) ?? [];
  expect(section).toContain("\n- openclaw did not run: there is no network.\n");
  expect(section).toContain("AI SDK");
  expect(section).toContain("OpenAI Agents SDK");
});

test("what a row says of its cells stands below the matrix", () => {
  expect(markdownOf(report(["plain"]))).toContain("\ntokened: it is slow, because it thinks.\n");
});

test("a file in rows/ without a row is named", () => {
  expect(() => rowOf("interop/rows/fortran.ts", {})).toThrow(/interop\/rows\/fortran\.ts has no row.*export const row/);
});

test("whoever adds a row is shown the two schemas as they are", () => {
  const page = readFileSync(join(import.meta.dirname, "README.md"), "utf8");
  const shown = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = ""]) => JSON.parse(text));
  expect(shown).toEqual([input_schema, output_schema]);
});
