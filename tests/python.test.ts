/** The Python SDK's own checks: format, lint, types and tests. Its adapters' are run by `npm run test:frameworks`. */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { NoPython, pythonEnvironment } from "./support/python-environment.ts";

const run = promisify(execFile);
const folder = join(import.meta.dirname, "../python");
const minutes = 60_000;
/** Those whose frameworks share an environment. */
const adapters = ["_adapters", "langgraph", "autogen", "agent_framework"];
const packages = adapters.flatMap((name) => ["-p", `handfast.${name}`]);

let python: string | NoPython;
beforeAll(async () => {
  python = await pythonEnvironment("agents", (line) => void process.stdout.write(`${line}\n`)).catch(
    (error: unknown) => {
      if (error instanceof NoPython) return error;
      throw error;
    },
  );
}, 15 * minutes);

describe("the Python SDK", () => {
  test.for([
    ["is formatted", ["ruff", "format", "--check", ".", "../interop/programs", "../examples"]],
    ["is free of what a linter finds", ["ruff", "check", ".", "../interop/programs", "../examples"]],
    ["is typed", ["mypy"]],
    ["is typed where it meets a framework", ["mypy", "--config-file", "mypy-adapters.ini", ...packages]],
    ["passes its tests", ["pytest", "-q", "-n", "4", "--ignore", "tests/adapters"]],
  ] as [string, [string, ...string[]]][])("%s", { timeout: 15 * minutes }, async ([, [module, ...args]], context) => {
    if (python instanceof NoPython) return context.skip(python.message);
    const { code, output } = await ran(python, ["-m", module, ...args]);
    process.stdout.write(`${output.split("\n").slice(-3).join("\n")}\n`);
    expect(code, output).toBe(0);
  });
});

/** What it printed, and how it ended. */
async function ran(command: string, args: readonly string[]): Promise<{ code: number; output: string }> {
  try {
    const { stdout, stderr } = await run(command, [...args], { cwd: folder, maxBuffer: 64_000_000 });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, output: stdout + stderr };
  }
}
