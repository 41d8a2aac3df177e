/** Documents keep their word: the tests they name exist, their tables are fresh, their links lead somewhere. */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { api_page, renderApi } from "../scripts/generate-api.ts";
import { renderConfiguration } from "../scripts/generate-configuration.ts";

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

test("docs/client-api.md tells the client's interface as it is", () => {
  expect(readFileSync(join(root, api_page), "utf8")).toBe(renderApi());
}, 240_000);

test("docs/configuration.md lists the options as they are", () => {
  expect(readFileSync(join(root, "docs/configuration.md"), "utf8")).toBe(renderConfiguration());
});

const documents = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"], { cwd: root })
  .toString()
  .split("\n")
  .filter(Boolean);

test.each(documents)("%s links only to what exists", (path) => {
  const text = readFileSync(join(root, path), "utf8").replace(/```[\s\S]*?```/g, "");
  const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, link = ""]) => link);
  const broken = links.filter((link) => !/^https?:/.test(link) && !existsSync(join(root, dirname(path), link)));
  expect(broken).toEqual([]);
});
