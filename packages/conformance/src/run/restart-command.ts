/** A restart by a command of the user's: it kills the relay and starts it again; then its readiness is waited for. */

import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

const ready_within_ms = 60_000;

export function restartBy(command: string, url: string): () => Promise<void> {
  return async () => {
    const code = await ended(command);
    if (code !== 0) throw new Error(`The command that restarts the relay ended with ${code}: ${command}`);
    const until = performance.now() + ready_within_ms;
    while (!(await isReady(url))) {
      if (performance.now() > until) throw new Error(`The relay was not ready ${ready_within_ms} ms after: ${command}`);
      await pause(50);
    }
  };
}

/** What the command leaves running must not keep it from ending: it gets none of our streams. */
function ended(command: string): Promise<number | null> {
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  const child = spawn(command, { shell: true, stdio: "ignore" });
  child.once("error", reject);
  child.once("exit", (code) => resolve(code));
  return promise;
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url.replace(/\/+$/, "")}/readyz`)).ok;
  } catch {
    return false;
  }
}
