/** A folder as after `npm install`, with this workspace's packages. */

import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execPath } from "node:process";

const root = join(import.meta.dirname, "../..");

/** `more`: what else was installed, by name, and where that is. */
export function makeProject(place: string, more: Readonly<Record<string, string>> = {}): void {
  mkdirSync(join(place, "node_modules/.bin"), { recursive: true });
  writeFileSync(join(place, "package.json"), '{ "type": "module" }');
  const own = {
    ".bin/handfast": "packages/cli/bin/handfast.js",
    ".bin/node": "node_modules/.bin/node",
    handfast: "packages/cli",
    "@handfast": "node_modules/@handfast",
    "@types": "node_modules/@types",
    zod: "node_modules/zod",
  };
  for (const [link, target] of Object.entries(own)) symlinkSync(join(root, target), join(place, "node_modules", link));
  for (const [link, target] of Object.entries(more)) symlinkSync(target, join(place, "node_modules", link));
  // npm takes a second each time to find the command beside it. tests/packages.test.ts has the real npx. As with that one, the
  // command is a child: a signal to npx does not reach it.
  writeFileSync(join(place, "node_modules/.bin/npx"), '#!/bin/sh\n"$@"\nexit $?\n', { mode: 0o755 });
}

/** What TypeScript says of the programs in it; "": nothing. */
export function typeFaults(place: string): string {
  const compilerOptions = {
    ...{ target: "es2024", module: "nodenext", strict: true, noEmit: true, skipLibCheck: true, types: ["node"] },
    ...{ allowImportingTsExtensions: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  };
  writeFileSync(join(place, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  try {
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    return execFileSync(execPath, [tsc, "-p", place], { encoding: "utf8" });
  } catch (error) {
    return error instanceof Error && "stdout" in error ? String(error.stdout) : String(error);
  }
}
