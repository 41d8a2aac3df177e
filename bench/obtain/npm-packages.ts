/** The peers that come from npm: bench/peers has a package.json and a lock of its own, installed once, on first use. */

import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { run } from "./run.ts";
import type { Say } from "./say.ts";

const folder = join(import.meta.dirname, "../peers");
const stamp = join(folder, "node_modules/.installed-from");

let installing: Promise<void> | null = null;

export function installPackages(say: Say): Promise<void> {
  installing ??= install(say);
  return installing;
}

async function install(say: Say): Promise<void> {
  const lock = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  say("installing the peers that come from npm into bench/peers/node_modules (about 300 MB, once) …");
  // No package's own scripts run: none of what is used here needs them.
  await run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder });
  writeFileSync(stamp, lock);
}

/** The file of a package in bench/peers. */
export function packageFile(...path: readonly string[]): string {
  return join(folder, "node_modules", ...path);
}

export function packageVersion(name: string): string {
  const { version }: { version: string } = JSON.parse(readFileSync(packageFile(name, "package.json"), "utf8"));
  return `${name} ${version}`;
}

/** Loads a package of bench/peers; the caller says what it expects of it, since the project itself does not know it. */
export async function loadPackage<Module>(name: string): Promise<Module> {
  const resolve = createRequire(join(folder, "package.json")).resolve;
  return import(pathToFileURL(resolve(name)).href);
}
