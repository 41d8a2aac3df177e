/** The reference relay as a process of its own, on a free port, killed and started again on the same data. */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Target } from "../run/run-conformance.ts";
import { freePort } from "./free-port.ts";

const main = join(import.meta.dirname, "../../../relay/src/main.ts");
const register = join(import.meta.dirname, "../mutants/register.ts");
const operator_token = "operator-token-of-the-conformance-suite";
const start_within_ms = 60_000;

/** None outlives whoever started it, and none leaves its folder behind. */
const relays = new Set<RelayProcess>();
process.once("exit", () => {
  for (const relay of relays) relay.abandon();
});

export interface RelayOptions {
  /** The name of a mutant; null: the relay as it is. */
  readonly mutant?: string | null;
  /** Development mode, where it is not said otherwise. */
  readonly mode?: "development" | "production";
  readonly flags?: readonly string[];
}

export class RelayProcess {
  readonly url: string;
  readonly #port: number;
  readonly #options: RelayOptions;
  readonly #directory = mkdtempSync(join(tmpdir(), "handfast-conformance-"));
  #child: ChildProcess | null = null;
  #output = "";
  #isDisposed = false;

  private constructor(port: number, options: RelayOptions) {
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
    this.#options = options;
    relays.add(this);
  }

  static async start(options: RelayOptions = {}): Promise<RelayProcess> {
    const relay = new RelayProcess(await freePort(), options);
    try {
      await relay.#start();
    } catch (error) {
      await relay.dispose();
      throw error;
    }
    return relay;
  }

  get target(): Omit<Target, "short_lived"> {
    return { url: this.url, operator_token, restart: () => this.restart() };
  }

  async restart(): Promise<void> {
    await this.#kill();
    await this.#start();
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.#kill();
    rmSync(this.#directory, { recursive: true, force: true });
    relays.delete(this);
  }

  /** All that were started, for a process that is told to end. */
  static async disposeAll(): Promise<void> {
    await Promise.all([...relays].map((relay) => relay.dispose()));
  }

  /** For the last moment of a process, where nothing can be waited for. */
  abandon(): void {
    this.#child?.kill("SIGKILL");
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5 });
  }

  async #start(): Promise<void> {
    const { mutant = null, mode = "development", flags = [] } = this.#options;
    if (this.#isDisposed) throw new Error("the relay was disposed of");
    const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
    const child = spawn(
      process.execPath,
      [
        ...(mutant === null ? [] : ["--import", register]),
        ...[
          main,
          mode === "development" ? "--dev" : "--production",
          "--port",
          `${this.#port}`,
          "--data",
          this.#directory,
          "--log-level",
          "error",
        ],
        ...flags,
      ],
      {
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          PATH,
          NODE_COMPILE_CACHE,
          HANDFAST_OPERATOR_TOKEN: operator_token,
          ...(mutant === null ? {} : { MUTANT_OF_HANDFAST: mutant }),
        },
      },
    );
    this.#child = child;
    const keep = (piece: Buffer) => {
      this.#output = (this.#output + piece.toString()).slice(-20_000);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    const until = performance.now() + start_within_ms;
    while (!(await this.#isReady())) {
      const end = child.exitCode ?? child.signalCode;
      if (end !== null) throw new Error(`the relay ended with ${end}:\n${this.#output}`);
      if (performance.now() > until) throw new Error(`the relay was not ready in time:\n${this.#output}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  async #isReady(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/readyz`)).ok;
    } catch {
      return false;
    }
  }

  async #kill(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
  }
}
