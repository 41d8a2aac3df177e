import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stdout } from "node:process";
import { afterAll, describe, expect, it } from "vitest";
import { checks } from "../promises/all.ts";
import { renderTryout, tryMutant } from "../testing/try-mutant.ts";
import { mutants } from "./all.ts";
import { mutate } from "./mutant.ts";

const root = join(import.meta.dirname, "../../../..");
const ids = new Set(checks.map(({ id }) => id));

describe("the mutants", () => {
  it("are many, each with a name of its own", () => {
    expect(mutants.length).toBeGreaterThanOrEqual(75);
    expect(tried.length).toBeGreaterThanOrEqual(25);
    expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length);
  });

  it.each(mutants)("$name fits the sources as they are, and names promises that are tried", (mutant) => {
    for (const { file } of mutant.edits) {
      const source = readFileSync(join(root, file), "utf8");
      expect(mutate(mutant, file, source)).not.toBe(source);
    }
    expect(mutant.killed_by.filter((id) => !ids.has(id))).toEqual([]);
    expect(mutant.killed_by.length).toBeGreaterThan(0);
  });

  it("are refused loudly once they do not fit any more", () => {
    const edits = [{ file: "a.ts", find: "const a = 1;", replace: "const a = ;" }];
    const mutant = { name: "rotten", breaks: "Nothing.", killed_by: [], edits };
    expect(() => mutate(mutant, "a.ts", "const b = 1;")).toThrow(/rotten.*stands 0 times in a.ts/);
    expect(() => mutate(mutant, "a.ts", "const a = 1; const a = 1;")).toThrow(/stands 2 times/);
    expect(() => mutate(mutant, "a.ts", "const a = 1;")).toThrow(/makes no TypeScript/);
  });
});

/** Every third is enough for a run of all tests; `npm run conformance -- --mutants` and MUTANTS=all try each. */
const tried = process.env["MUTANTS"] === "all" ? mutants : mutants.filter((_, nth) => nth % 3 === 0);

describe("each mutant is noticed by the tests of the promises it breaks", () => {
  const table: string[] = [];
  afterAll(() => void stdout.write(`${table.toSorted().join("\n")}\n`));

  it.concurrent.each(tried)(
    "$name: $breaks",
    async (mutant) => {
      const tryout = await tryMutant(mutant);
      table.push(renderTryout(tryout));
      expect(tryout.blind).toEqual([]);
    },
    240_000,
  );
});
