/** Whether a process runs, for tests: one that has ended and waits to be reaped does not. */

import { spawnSync } from "node:child_process";

export function isAlive(pid: number | string): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.trim().startsWith("Z");
}
