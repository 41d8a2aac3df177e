/** A disk that fails: calls of a running process are answered with an error in the kernel's place, by strace. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseTrace, type TracedCall, trace_options } from "./strace.ts";

export interface Fault {
  /** Which calls fail, separated by commas. */
  readonly calls: string;
  readonly error: "EIO" | "ENOSPC";
  /** Which of them, counted per thread from now on: "1" or "1+" (all); with `every`, "2+2" is every second one. */
  readonly when: string;
  /** Only on this file. */
  readonly path?: string;
}

export class DiskFault {
  readonly #tracer: ChildProcess;
  readonly #directory: string;

  private constructor(tracer: ChildProcess, directory: string) {
    this.#tracer = tracer;
    this.#directory = directory;
  }

  /** Resolves once the fault is in force; null: strace may not attach to a process here. */
  static async inject(pid: number, { calls, error, when, path }: Fault): Promise<DiskFault | null> {
    const directory = mkdtempSync(join(tmpdir(), "handfast-fault-"));
    const only = path === undefined ? [] : ["-P", path];
    const fault = ["-e", `inject=${calls}:error=${error}:when=${when}`, ...only];
    const tracer = spawn("strace", [...trace_options, ...fault, "-o", join(directory, "trace"), "-p", `${pid}`], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    const injected = new DiskFault(tracer, directory);
    const attached = new Promise<boolean>((resolve) => {
      tracer.stderr.on("data", (said: Buffer) => said.includes("attached") && resolve(true));
      tracer.once("exit", () => resolve(false));
    });
    if (await attached) return injected;
    await injected.lift();
    return null;
  }

  /** Resolves once it has hit something. */
  async struck(): Promise<void> {
    while (!this.#text().includes("(INJECTED)")) await sleep(10);
  }

  /** The disk is well again; what was called meanwhile. */
  async lift(): Promise<readonly TracedCall[]> {
    if (this.#tracer.exitCode === null && this.#tracer.signalCode === null) {
      const gone = once(this.#tracer, "exit");
      this.#tracer.kill("SIGTERM");
      await gone;
    }
    const calls = parseTrace(this.#text());
    rmSync(this.#directory, { recursive: true });
    return calls;
  }

  #text(): string {
    return readFileSync(join(this.#directory, "trace"), "utf8");
  }
}
