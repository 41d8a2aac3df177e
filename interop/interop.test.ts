/** Some pairs that need no framework. `npm run interop` runs all of them. */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readCommandLine, UsageError } from "./command-line.ts";
import type { Cell } from "./matrix.ts";
import { scenario_names } from "./scenarios/scenario.ts";

const main = join(import.meta.dirname, "main.ts");
const run = promisify(execFile);

const senders = ["typescript", "python"];
const workers = ["typescript", "python", "curl", "handfast-serve"];

test("pairs that need no framework go through every scenario, or name their gap", { timeout: 900_000 }, async () => {
  const only = ["--senders", senders.join(","), "--workers", workers.join(",")];
  const { stdout } = await run(process.execPath, [main, ...only, "--json"], { maxBuffer: 64_000_000 });
  const { cells, absent }: { cells: readonly Cell[]; absent: object } = JSON.parse(stdout);
  const present = (names: readonly string[]) => names.filter((name) => !(name in absent)).length;
  expect(cells.filter(({ result }) => result.is === "failed")).toEqual([]);
  expect(cells).toHaveLength(present(senders) * present(workers) * scenario_names.length);
});

test("a row that does not exist is named", () => {
  expect(() => readCommandLine(["--only", "fortran"], ["curl"])).toThrow(UsageError);
  expect(() => readCommandLine(["--write", "--only", "curl"], ["curl"])).toThrow(/whole matrix/);
  expect(() => readCommandLine(["--write", "--quick"], ["curl"])).toThrow(/whole matrix/);
});
