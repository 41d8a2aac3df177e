/** The part of the suite that needs no framework: every scenario of every pair. `npm run interop` runs all of it. */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readCommandLine, UsageError } from "./command-line.ts";
import type { Cell } from "./matrix.ts";
import { loadRows } from "./rows.ts";
import { scenario_names } from "./scenarios/scenario.ts";

const main = join(import.meta.dirname, "main.ts");
const run = promisify(execFile);

test("every quick pair goes through every scenario, or names its gap", { timeout: 900_000 }, async () => {
  const { stdout } = await run(process.execPath, [main, "--quick", "--json"], { maxBuffer: 64_000_000 });
  const { cells, absent }: { cells: readonly Cell[]; absent: object } = JSON.parse(stdout);
  const rows = (await loadRows()).filter(({ name, quick }) => quick && !(name in absent));
  expect(cells.filter(({ result }) => result.is === "failed")).toEqual([]);
  expect(cells).toHaveLength(rows.length ** 2 * scenario_names.length);
});

test("a row that does not exist is named", () => {
  expect(() => readCommandLine(["--only", "fortran"], ["curl"])).toThrow(UsageError);
  expect(() => readCommandLine(["--write", "--only", "curl"], ["curl"])).toThrow(/whole matrix/);
});
