/** `npm run test:frameworks`: the tests of every adapter in Python, each where its framework is installed; then OpenClaw's. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pythonEnvironment } from "../tests/support/python-environment.ts";

const root = join(import.meta.dirname, "..");
const say = (line: string) => void process.stderr.write(`${line}\n`);

function ran(command: string, args: readonly string[], cwd: string): boolean {
  say(`${command} ${args.join(" ")}`);
  return spawnSync(command, args, { cwd, stdio: "inherit" }).status === 0;
}

const results: boolean[] = [];
for (const [environment, folders] of [
  ["agents", ["langgraph", "autogen", "agent_framework"]],
  ["crewai", ["crewai"]],
] as const) {
  const python = await pythonEnvironment(environment, say);
  const tests = folders.map((folder) => `tests/adapters/${folder}`);
  results.push(ran(python, ["-m", "pytest", "-q", ...tests], join(root, "python")));
}
results.push(ran("npm", ["run", "test:openclaw"], join(root, "adapters/openclaw")));
process.exitCode = results.every(Boolean) ? 0 : 1;
