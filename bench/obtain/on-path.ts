/** Finds a program on PATH. */

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

export function onPath(name: string): string | null {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, name);
    if (folder !== "" && isExecutable(path)) return path;
  }
  return null;
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
