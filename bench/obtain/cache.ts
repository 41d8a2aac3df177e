/** Where the benchmark keeps what it installs, builds and fills for itself: beside its code, ignored by git. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../.cache");

export function cacheFolder(...names: readonly string[]): string {
  const folder = join(root, ...names);
  mkdirSync(folder, { recursive: true });
  return folder;
}
