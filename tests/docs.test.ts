/** Documents keep their word: every test that docs/invariants.md names exists. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const invariants = readFileSync(join(root, "docs/invariants.md"), "utf8");
const named = [...invariants.matchAll(/\| `([^`]+)` › (.+?) \|$/gm)].map(([, path = "", name = ""]) => ({
  path,
  name,
}));

test("docs/invariants.md names tests", () => expect(named.length).toBeGreaterThan(40));

test.each(named)("$path has the test: $name", ({ path, name }) => {
  expect(existsSync(join(root, path))).toBe(true);
  expect(readFileSync(join(root, path), "utf8")).toContain(name);
});
