/** Whether a program can be started at all: better said before work is taken than with every handoff. */

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import type { Environment } from "../command.ts";
import { CliError } from "../errors.ts";

export function checkProgram(name: string, env: Environment, cwd: string): void {
  // Windows looks for further endings; there the start itself tells.
  if (process.platform === "win32") return;
  const isPath = name.includes("/");
  const folders = isPath ? [""] : (env["PATH"] ?? "").split(delimiter);
  if (folders.some((folder) => isExecutable(isPath ? resolve(cwd, name) : resolve(cwd, folder, name)))) return;
  const remedy = isPath ? `Check the path, and that it may be executed: chmod +x ${name}` : "Check its name and PATH.";
  throw new CliError("missing", `There is no program ${name} to serve with.`, remedy);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
