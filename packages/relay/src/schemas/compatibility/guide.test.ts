/** What docs/schema-compatibility.md says of keywords and of traps is so. */

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { limits } from "../../limits.ts";
import { keywords } from "../keywords.ts";
import { Schemas } from "../schemas.ts";
import { compare } from "./compare.ts";

const page = readFileSync(new URL("../../../../../docs/schema-compatibility.md", import.meta.url), "utf8");

/** The rows of the table under a heading, cell by cell. */
function rowsUnder(heading: string): readonly (readonly string[])[] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("| "));
  return rows.slice(1).map((row) => row.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));
}

const coded = (cell = "") => /^(?:refuted by )?`(.+)`$/.exec(cell)?.[1] ?? "";

describe("a trap of the guide", () => {
  const traps = rowsUnder("Traps");

  it("is there", () => expect(traps.length).toBeGreaterThan(15));

  it.each(traps)("%s", (_, left, right, told = "") => {
    const options = { schemas: new Schemas(), random: () => 0.5, limits };
    const verdict = compare(JSON.parse(coded(left)), JSON.parse(coded(right)), options);
    const shown =
      verdict.kind === "refuted" ? `refuted by \`${JSON.stringify(verdict.counterexample)}\`` : verdict.kind;
    expect(shown).toBe(told);
  });
});

it("the guide says of every keyword that the relay takes what can be proven, and of no other", () => {
  const told = rowsUnder("What can be proven").flatMap(([names = ""]) => names.split(", ").map(coded));
  expect(told.toSorted()).toEqual([...keywords.keys()].toSorted());
});
