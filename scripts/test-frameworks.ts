/**
 * `npm run test:frameworks`: the tests of every adapter in Python, each where its framework is installed; then OpenClaw's.
 * `--help` lists the options.
 */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pythonEnvironment } from "../tests/support/python-environment.ts";
import { type CommandLine, readCommandLine, UsageError, usage } from "./frameworks-command-line.ts";

const root = join(import.meta.dirname, "..");
const say = (line: string) => void process.stderr.write(`${line}\n`);

try {
  const line = readCommandLine(process.argv.slice(2));
  if (line.help) process.stdout.write(usage);
  else process.exitCode = (await run(line)) ? 0 : 1;
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n${usage}`);
  process.exitCode = 64;
}

/** Whether all of them passed. */
async function run({ python: environments, openclaw }: CommandLine): Promise<boolean> {
  const results: boolean[] = [];
  for (const [environment, adapters] of environments) {
    const python = await pythonEnvironment(environment, say);
    const tests = adapters.map((adapter) => `tests/adapters/${adapter}`);
    results.push(ran(python, ["-m", "pytest", "-q", ...tests], join(root, "python")));
  }
  if (openclaw) results.push(ran("npm", ["run", "test:openclaw"], join(root, "adapters/openclaw")));
  return results.every(Boolean);
}

function ran(command: string, args: readonly string[], cwd: string): boolean {
  say(`${command} ${args.join(" ")}`);
  return spawnSync(command, args, { cwd, stdio: "inherit" }).status === 0;
}
