/** docs/simulation.md tells what the simulator really does. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { invariants } from "../checks/invariants.ts";
import { page_path, readPart } from "./page.ts";
import { faultsTable, invariantsTable, mistakesTable, unreachableTable } from "./tables.ts";

const page = readFileSync(page_path, "utf8");
const cellsOf = (line: string) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, ""));

// Stale? `npm run docs -w @handfast/sim` writes them anew.

test("its faults are those of the code", () => expect(readPart(page, "faults")).toEqual(faultsTable()));

test("its promises are those that are checked", () => expect(readPart(page, "promises")).toEqual(invariantsTable()));

test("its unreachable cells are those of the code", () => {
  expect(readPart(page, "unreachable")).toEqual(unreachableTable());
});

test("its mistakes are those of the code, each with the promise that found it", () => {
  const shown = readPart(page, "mistakes").map(cellsOf);
  const known = mistakesTable([]).map(cellsOf);
  expect(shown.map((cells) => cells.slice(0, 3))).toEqual(known.map((cells) => cells.slice(0, 3)));
  for (const [, , , found = ""] of shown.slice(2)) expect(Object.keys(invariants)).toContain(found);
});
