/** Runs a program to its end and answers what it printed; a failure carries the last lines of what it said. */

import { spawn } from "node:child_process";
import { Unavailable } from "./unavailable.ts";

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly uid?: number;
  readonly timeout_ms?: number;
}

const patience_ms = 600_000;
const told_characters = 300;

export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { timeout_ms = patience_ms, ...rest } = options;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = spawn(program, args, { ...rest, timeout: timeout_ms, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-100_000);
  });
  child.once("error", (error) => reject(new Unavailable(`${program} cannot be run: ${error.message}`)));
  child.once("close", (code, signal) => {
    if (code === 0) return resolve(printed);
    const last = (said.trim() || printed.trim()).slice(-told_characters).replaceAll(/\s+/g, " ");
    reject(new Unavailable(`${program} ${args[0] ?? ""} ended with ${code ?? signal}: ${last}`));
  });
  return promise;
}
