/** A real relay in a process of its own, on a free port, that can be killed and started again on the same data. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const main = join(import.meta.dirname, "../../packages/relay/src/main.ts");
const start_within_ms = 60_000;

export interface RelaySurroundings {
  /** Besides PATH, which is all that it has otherwise. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A command that the relay's own comes after, and that becomes the relay's process (`strace -D …`). */
  readonly under?: readonly string[];
  /** Default: a free one. */
  readonly port?: number;
}

export class RelayProcess {
  readonly url: string;
  readonly directory: string;
  readonly #port: number;
  readonly #arguments: readonly string[];
  readonly #surroundings: RelaySurroundings;
  #child: ChildProcess | null = null;
  #output = "";

  private constructor(port: number, directory: string, more: readonly string[], surroundings: RelaySurroundings) {
    this.#port = port;
    this.directory = directory;
    this.url = `http://127.0.0.1:${port}`;
    this.#arguments = more;
    this.#surroundings = surroundings;
  }

  static async start(
    more: readonly string[] = [],
    directory = mkdtempSync(join(tmpdir(), "handfast-")),
    surroundings: RelaySurroundings = {},
  ): Promise<RelayProcess> {
    const relay = new RelayProcess(surroundings.port ?? (await freePort()), directory, more, surroundings);
    try {
      await relay.start();
    } catch (error) {
      await relay.end("SIGKILL");
      throw error;
    }
    return relay;
  }

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error("the relay does not run");
    return this.#child.pid;
  }

  get isAlive(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Whether it was a SIGKILL that ended it. */
  get wasKilled(): boolean {
    return this.#child?.signalCode === "SIGKILL";
  }

  /** What it printed, on both streams. */
  get output(): string {
    return this.#output;
  }

  async start(): Promise<void> {
    const { environment = {}, under = [] } = this.#surroundings;
    const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
    const own = [process.execPath, main, "--port", `${this.#port}`, "--data", this.directory, ...this.#arguments];
    const [command = "", ...rest] = [...under, ...own];
    const child = spawn(command, rest, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH, NODE_COMPILE_CACHE, ...environment },
    });
    this.#child = child;
    // Whoever started it and exits takes it along.
    const endToo = () => child.kill("SIGKILL");
    process.once("exit", endToo);
    child.once("exit", () => process.off("exit", endToo));
    const keep = (chunk: Buffer) => {
      this.#output = (this.#output + chunk.toString()).slice(-100_000);
    };
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);
    const until = performance.now() + start_within_ms;
    while (!(await this.#isReady())) {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`the relay ended with ${child.exitCode ?? child.signalCode}:\n${this.#output}`);
      }
      if (performance.now() > until) throw new Error(`the relay was not ready in time:\n${this.#output}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Waits until it is ready, or has ended by itself; whether it has. */
  async isEnding(): Promise<boolean> {
    while (this.isAlive && !(await this.#isReady())) await new Promise((resolve) => setTimeout(resolve, 20));
    return !this.isAlive;
  }

  /** Ends it and waits until it is gone. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<number | null> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const gone = new Promise<number | null>((resolve) => child.once("exit", resolve));
    child.kill(signal);
    return gone;
  }

  /** Resolves with its exit code when it has ended by itself. */
  async ended(): Promise<number | null> {
    if (this.#child !== null && this.isAlive) await once(this.#child, "exit");
    return this.#child?.exitCode ?? null;
  }

  async dispose(): Promise<void> {
    await this.end("SIGKILL");
    rmSync(this.directory, { recursive: true, force: true });
  }

  async #isReady(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(5_000) })).ok;
    } catch {
      return false;
    }
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (address === null || typeof address === "string") return reject(new Error("no port"));
      server.close(() => resolve(address.port));
    });
  });
}
