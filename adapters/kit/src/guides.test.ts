/** The programs of the guides to frameworks are sound TypeScript. Each adapter's own test runs its guide. */

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { expect, onTestFinished, test } from "vitest";
import { readGuide, writeFiles } from "../../../tests/support/guide.ts";

const root = join(import.meta.dirname, "../../..");
const guides = ["langgraph-js", "ai-sdk", "openai-agents"];

test("the programs of the guides are sound TypeScript", { timeout: 240_000 }, () => {
  const place = mkdtempSync(join(tmpdir(), "handfast-guides-"));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  symlinkSync(join(root, "node_modules"), join(place, "node_modules"));
  for (const name of guides) {
    mkdirSync(join(place, name));
    writeFiles(readGuide(join(root, `docs/frameworks/${name}.md`)).files, join(place, name));
  }
  writeFileSync(join(place, "package.json"), '{ "type": "module" }');
  writeFileSync(
    join(place, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        ...{ target: "es2024", module: "nodenext", strict: true, noEmit: true, skipLibCheck: true, types: ["node"] },
        ...{ allowImportingTsExtensions: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
      },
    }),
  );
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  expect(spawnSync(execPath, [tsc, "-p", place], { encoding: "utf8" }).stdout).toBe("");
});
