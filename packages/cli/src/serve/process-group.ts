/**
 * A program with all that it forks: it leads a process group of its own, so that one signal reaches them all, and
 * Ctrl-C on the terminal reaches only us. Whatever of it still runs when we exit is killed.
 */

import type { ChildProcess } from "node:child_process";

const running = new Set<ProcessGroup>();

process.on("exit", () => {
  for (const group of running) group.kill("SIGKILL");
});

export class ProcessGroup {
  readonly #child: ChildProcess;

  /** The child must have been spawned `detached`. */
  constructor(child: ChildProcess) {
    this.#child = child;
    running.add(this);
  }

  /** False: nothing of it is there any more. */
  kill(signal: NodeJS.Signals): boolean {
    const { pid } = this.#child;
    if (pid === undefined) return false;
    // Windows has no groups: the program alone is ended.
    if (process.platform === "win32") return this.#child.kill(signal);
    try {
      return process.kill(-pid, signal);
    } catch {
      return false;
    }
  }

  /** Asks all of it to end; after so long it is made to. The answer calls the second step off. */
  end(kill_ms: number, onKilled: () => void): () => void {
    this.kill("SIGTERM");
    const timer = setTimeout(() => {
      this.kill("SIGKILL");
      onKilled();
    }, kill_ms);
    return () => clearTimeout(timer);
  }

  /** The program has ended; nothing of it may stay behind. */
  forget(): void {
    this.kill("SIGKILL");
    running.delete(this);
  }
}
