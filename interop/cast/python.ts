/** The interpreter of a row that is written in Python. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { NoPython, pythonEnvironment } from "../../tests/support/python-environment.ts";
import type { Interpreter } from "./program-row.ts";
import { Unavailable } from "./row.ts";

const run = promisify(execFile);

/** Of an environment (environments/), with the versions of those of its packages that matter. */
export async function python(
  environment: string,
  packages: readonly string[],
  say: (line: string) => void,
): Promise<Interpreter> {
  const command = await pythonEnvironment(environment, say).catch((error: unknown) => {
    throw error instanceof NoPython ? new Unavailable(error.message) : error;
  });
  return {
    command,
    arguments: ["-u"],
    // The programs' own folder is where Python looks first; nothing may be written there.
    environment: { PYTHONDONTWRITEBYTECODE: "1" },
    versions: await versionsOf(command, packages),
  };
}

async function versionsOf(command: string, packages: readonly string[]): Promise<Record<string, string>> {
  const code = `
import json, platform, sys
from importlib.metadata import version
print(json.dumps({"Python": platform.python_version(), **{name: version(name) for name in sys.argv[1:]}}))`;
  return JSON.parse((await run(command, ["-c", code, ...packages])).stdout);
}
