/** An adapter beside a version of its framework that it was not made for says so, with both versions. */

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execPath } from "node:process";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkFramework } from "./framework.ts";

const adapters = join(import.meta.dirname, "../..");
const root = join(adapters, "..");
let folder: string;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "handfast-framework-")));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A package of this name and version that has nothing but the doors an adapter enters by. */
function install(place: string, name: string, version: string, doors: readonly string[] = ["."]): void {
  const at = join(place, "node_modules", name);
  mkdirSync(at, { recursive: true });
  const exports = Object.fromEntries(doors.map((door) => [door, "./index.js"]));
  writeFileSync(join(at, "package.json"), JSON.stringify({ name, version, type: "module", exports }));
  writeFileSync(join(at, "index.js"), "export {};");
}

test.each([
  ["langgraph", "@langchain/langgraph", "0.4.9", "1.4.0", "2.0.0"],
  ["ai-sdk", "ai", "5.0.1", "7.0.0", "8.0.0"],
  ["openai-agents", "@openai/agents", "0.3.7", "0.20.0", "1.0.0"],
])("%s beside %s %s names both versions", (adapter, framework, version, least, below) => {
  const place = join(folder, adapter);
  cpSync(join(adapters, adapter, "src"), join(place, "src"), { recursive: true });
  writeFileSync(join(place, "package.json"), '{ "type": "module" }');
  install(place, framework, version, [".", "./prebuilt"]);
  for (const name of ["@handfast/adapter-kit", "@handfast/client", "@langchain/core"]) {
    const link = join(place, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(realpathSync(join(root, "node_modules", name)), link, "dir");
  }
  const { status, stderr } = spawnSync(execPath, [join(place, "src/mod.ts")], { encoding: "utf8" });
  expect(stderr).toContain(
    `UsageError: @handfast/${adapter} works with ${framework} ${least} up to, not including, ${below}; installed is ${version}.`,
  );
  expect(status).toBe(1);
});

test.each([
  ["1.3.9", false],
  ["1.4.0", true],
  ["1.4.1-rc.1", true],
  ["1.10.0", true],
  ["2.0.0", false],
])("%s fits 1.4.0 to 2.0.0: %s", (version, fits) => {
  const place = join(folder, version);
  install(place, "frame", version);
  const from = pathToFileURL(join(place, "src/mod.ts")).href;
  const check = () => checkFramework(from, { adapter: "adapter", framework: "frame", least: "1.4.0", below: "2.0.0" });
  if (fits) check();
  else expect(check).toThrow(`installed is ${version}`);
});

test("where the framework cannot be found nothing is known, and nothing is said", () => {
  const wanted = { adapter: "adapter", framework: "not-here", least: "1.0.0", below: "2.0.0" };
  checkFramework(pathToFileURL(join(folder, "src/mod.ts")).href, wanted);
  checkFramework("https://bundle.test/app.js", wanted);
});
