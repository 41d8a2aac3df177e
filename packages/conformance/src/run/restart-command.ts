/** A restart by a command of the user's: it kills the relay and starts it again; then its readiness is waited for. */

import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const ready_within_ms = 60_000;
const answer_within_ms = 5_000;
/** Its last words say what went wrong. */
const shown_characters = 1_000;

interface Ended {
  /** Of the exit, or the signal that ended it. */
  readonly code: number | NodeJS.Signals;
  readonly stderr: string;
}

/** Rejects with what a person is to be told: one line, and what the command wrote to stderr below it. */
export function restartBy(command: string, url: string): () => Promise<void> {
  return async () => {
    const { code, stderr } = await ended(command);
    if (code !== 0) {
      throw new Error([`the restart command ended with ${code}: ${command}`, stderr].filter(Boolean).join("\n"));
    }
    const until = performance.now() + ready_within_ms;
    while (!(await isReady(url))) {
      if (performance.now() > until) {
        throw new Error(`${url} was not ready ${ready_within_ms} ms after the restart command: ${command}`);
      }
      await pause(50);
    }
  };
}

/**
 * What the command leaves running has its stderr for as long as it likes: in a file without a name, because a pipe would
 * keep us from ending, and break under the relay once we have.
 */
async function ended(command: string): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), "handfast-restart-"));
  const path = join(folder, "stderr");
  const file = openSync(path, "a");
  try {
    const { promise, resolve, reject } = Promise.withResolvers<Ended["code"]>();
    const child = spawn(command, { shell: true, stdio: ["ignore", "ignore", file] });
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? signal ?? "SIGKILL"));
    const code = await promise;
    return { code, stderr: readFileSync(path, "utf8").trim().slice(-shown_characters) };
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(answer_within_ms);
    const response = await fetch(`${url.replace(/\/+$/, "")}/readyz`, { signal });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
