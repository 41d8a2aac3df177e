/** `npm start` as a process of its own, for tests. */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));

export class RelayProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  #stdout = "";
  #stderr = "";

  constructor(...flags: readonly string[]) {
    this.#child = spawn(execPath, [main, ...flags]);
    this.#child.stdout.on("data", (chunk) => {
      this.#stdout += String(chunk);
    });
    this.#child.stderr.on("data", (chunk) => {
      this.#stderr += String(chunk);
    });
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Resolves with the address once it says that it listens. */
  async url(): Promise<string> {
    for (;;) {
      const match = /^relay (\S+)[\s\S]*next: .*\n/m.exec(this.#stdout);
      if (match?.[1] !== undefined) return match[1];
      if (this.#child.exitCode !== null) throw new Error(`the relay ended at once: ${this.#stderr}`);
      await Promise.race([once(this.#child.stdout, "data"), once(this.#child, "close")]);
    }
  }

  /** The exit code. */
  async ended(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "close");
    return this.#child.exitCode;
  }

  /** One that does not end it. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(signal);
  }

  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    this.#child.kill(signal);
    return this.ended();
  }
}
