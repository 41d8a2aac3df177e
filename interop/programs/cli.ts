/** The `handfast` command, as a process of its own each time. */

import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";

const bin = join(import.meta.dirname, "../../packages/cli/bin/handfast.js");

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function handfast(args: readonly string[]): Promise<Ran> {
  return finished(start(args));
}

export function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [bin, ...args], { stdio: ["ignore", "pipe", "pipe"] });
}

function finished(child: ChildProcess): Promise<Ran> {
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}
