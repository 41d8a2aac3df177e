/** A server in a process of its own: started, waited for until it answers, and stopped with everything it started. */

import { type ChildProcess, spawn } from "node:child_process";
import { reasonOf, Unavailable } from "../obtain/unavailable.ts";
import type { Command } from "./command.ts";
import { processTree } from "./process-tree.ts";

const start_within_ms = 60_000;
const stop_within_ms = 3_000;
const look_every_ms = 20;

/** Those that run now, so that nothing outlives the benchmark. */
const running = new Set<ServerProcess>();

export interface ServerProcessOptions {
  /** Whether it answers; a rejection means not yet. */
  readonly isReady: () => Promise<boolean>;
  /** How it is asked to stop. */
  readonly signal?: NodeJS.Signals;
}

export class ServerProcess {
  readonly #child: ChildProcess;
  readonly #signal: NodeJS.Signals;
  readonly #gone: Promise<void>;
  /** Monotonic, as of `performance.now()`. */
  readonly started_at = performance.now();
  #output = "";
  #exit: string | null = null;

  private constructor({ program, args, env, cwd, uid }: Command, { signal = "SIGTERM" }: ServerProcessOptions) {
    this.#signal = signal;
    this.#child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env["PATH"] ?? "", ...env },
      ...(cwd === undefined ? {} : { cwd }),
      ...(uid === undefined ? {} : { uid }),
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gone = promise;
    const end = (how: string) => {
      this.#exit ??= how;
      running.delete(this);
      resolve();
    };
    this.#child.once("error", (error) => end(error.message));
    this.#child.once("exit", (code, signalled) => end(`it ended with ${code ?? signalled}`));
    const keep = (chunk: Buffer) => {
      this.#output = (this.#output + chunk.toString()).slice(-20_000);
    };
    this.#child.stdout?.on("data", keep);
    this.#child.stderr?.on("data", keep);
    running.add(this);
  }

  /** Resolves once it answers. */
  static async start(command: Command, options: ServerProcessOptions): Promise<ServerProcess> {
    const server = new ServerProcess(command, options);
    try {
      await server.#untilReady(options.isReady);
      return server;
    } catch (error) {
      await server.kill();
      throw error;
    }
  }

  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error("the server does not run");
    return pid;
  }

  /** The last of what it printed, on both streams. */
  get output(): string {
    return this.#output;
  }

  async stop(): Promise<void> {
    if (this.#exit !== null) return;
    this.#child.kill(this.#signal);
    const timer = setTimeout(() => this.#killTree(), stop_within_ms);
    await this.#gone;
    clearTimeout(timer);
  }

  /** As a power cut would. */
  async kill(): Promise<void> {
    if (this.#exit !== null) return;
    this.#killTree();
    await this.#gone;
  }

  async #untilReady(isReady: () => Promise<boolean>): Promise<void> {
    const until = performance.now() + start_within_ms;
    let last = "it did not answer";
    while (performance.now() < until) {
      if (this.#exit !== null)
        throw new Unavailable(`${this.#exit}: ${this.#output.slice(-300).replaceAll(/\s+/g, " ")}`);
      try {
        if (await isReady()) return;
      } catch (error) {
        last = reasonOf(error);
      }
      await new Promise((resolve) => setTimeout(resolve, look_every_ms));
    }
    throw new Unavailable(`it was not ready within ${start_within_ms / 1_000} s: ${last}`);
  }

  #killTree(): void {
    for (const pid of processTree(this.pid)?.keys() ?? [this.pid]) kill(pid);
  }

  /** For the end of the process: at once, without waiting. */
  static killAll(): void {
    for (const server of running) server.#killTree();
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}
