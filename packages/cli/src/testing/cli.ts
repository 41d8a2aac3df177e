/** The command as a process of its own, in a folder of its own, for tests. */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";

export const bin = fileURLToPath(new URL("../../bin/handfast.js", import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export class Cli {
  readonly folder: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #running = new Set<CliProcess>();

  private constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.folder = folder;
    this.#env = env;
  }

  /** `env` holds for every command. Keys are kept in the folder, so nothing of this machine's user is touched. */
  static async make(env: Readonly<Record<string, string>> = {}): Promise<Cli> {
    return new Cli(await mkdtemp(join(tmpdir(), "handfast-cli-")), env);
  }

  spawn(words: readonly string[], { stdin, env = {} }: CliOptions = {}): CliProcess {
    const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
    const home = join(this.folder, "home");
    const child = spawn(execPath, [bin, ...words], {
      cwd: this.folder,
      env: { PATH, NODE_COMPILE_CACHE, HOME: this.folder, HANDFAST_HOME: home, ...this.#env, ...env },
    });
    child.stdin.end(stdin);
    const running = new CliProcess(child);
    this.#running.add(running);
    running.ended().finally(() => this.#running.delete(running));
    return running;
  }

  run(words: readonly string[], options?: CliOptions): Promise<Ended> {
    return this.spawn(words, options).ended();
  }

  /** One JSON document on stdout. */
  async json(words: readonly string[], options?: CliOptions): Promise<Record<string, unknown>> {
    const { stdout, stderr, code } = await this.run([...words, "--json"], options);
    if (stdout === "") throw new Error(`it ended with ${code} and said nothing: ${stderr}`);
    return JSON.parse(stdout);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running].map((each) => each.stop("SIGKILL")));
    await rm(this.folder, { recursive: true, force: true });
  }
}

export class CliProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<Ended>;
  #stdout = "";
  #stderr = "";

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    child.stdout.on("data", (piece) => {
      this.#stdout += String(piece);
    });
    child.stderr.on("data", (piece) => {
      this.#stderr += String(piece);
    });
    this.#ended = once(child, "close").then(([code]) => ({ code, stdout: this.#stdout, stderr: this.#stderr }));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** The match, once something of that kind was written to either stream. */
  async said(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.#stdout) ?? pattern.exec(this.#stderr);
      if (match !== null) return match;
      if (this.#child.exitCode !== null) throw new Error(`it ended without ${pattern}: ${this.#stdout}${this.#stderr}`);
      await Promise.race([once(this.#child.stdout, "data"), once(this.#child.stderr, "data"), this.#ended]);
    }
  }

  /** As whoever read its stderr and went away. */
  closeMessages(): void {
    this.#child.stderr.destroy();
  }

  ended(): Promise<Ended> {
    return this.#ended;
  }

  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Ended> {
    this.#child.kill(signal);
    return this.#ended;
  }
}
