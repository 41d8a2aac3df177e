/** Where they play: a relay and the processes of the agents, on this machine, in a folder that goes when all is over. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Client, connect } from "@handfast/client";
import { endsWithUs, goesWithUs } from "../../tests/support/end-at-once.ts";
import { RelayProcess } from "../../tests/support/relay-process.ts";
import type { Player } from "./cast.ts";

/** Frameworks take their time to load. */
const start_ms = 180_000;
const stop_ms = 20_000;
const kept_output = 4_000;

/** CrewAI reports to its makers and asks them for news unless told not to. */
const silent = {
  CREWAI_DISABLE_TELEMETRY: "true",
  CREWAI_DISABLE_TRACKING: "true",
  CREWAI_DISABLE_VERSION_CHECK: "true",
  CREWAI_TRACING_ENABLED: "false",
  OTEL_SDK_DISABLED: "true",
};

export class Stage {
  /** Of the agents: what they write, they write here. */
  readonly folder: string;
  readonly #root: string;
  readonly #keep: () => void;
  readonly #running = new Map<string, ChildProcess>();
  readonly #clients: Client[] = [];
  /** What should not have happened to processes. */
  readonly #faults: string[] = [];
  #relay: RelayProcess | null = null;

  private constructor() {
    this.#root = mkdtempSync(join(tmpdir(), "handfast-newsroom-"));
    this.#keep = goesWithUs(this.#root);
    this.folder = join(this.#root, "desk");
    mkdirSync(this.folder);
  }

  static async open(players: readonly Player[]): Promise<Stage> {
    const stage = new Stage();
    try {
      stage.#relay = await RelayProcess.start(["--log-level", "error"], join(stage.#root, "relay"));
      await Promise.all(players.map((player) => stage.#start(player)));
    } catch (error) {
      await stage.close();
      throw error;
    }
    return stage;
  }

  get url(): string {
    return this.#relay?.url ?? "";
  }

  /** The one who gives the job. */
  you(): Promise<Client> {
    return this.#connect({ agent: "you", home: this.#root });
  }

  /** Sees everything, and is part of nothing. */
  operator(): Promise<Client> {
    return this.#connect({ token: readFileSync(join(this.#root, "relay/operator-token"), "utf8").trim() });
  }

  /** SIGKILL: nothing is told, nothing is tidied. */
  async kill(worker: string): Promise<void> {
    const child = this.#running.get(worker);
    if (child === undefined) throw new Error(`there is no process of ${worker} to kill`);
    this.#running.delete(worker);
    await ended(child, "SIGKILL");
  }

  /** What ended before, or did not stop in order, is told. */
  async close(): Promise<readonly string[]> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await Promise.all(this.#running.values().map(stopped));
    await this.#relay?.end("SIGTERM");
    this.#keep();
    rmSync(this.#root, { recursive: true, force: true });
    return this.#faults;
  }

  async #connect(options: Parameters<typeof connect>[0]): Promise<Client> {
    const client = await connect({ ...options, url: this.url });
    this.#clients.push(client);
    return client;
  }

  async #start({ worker, command, arguments: args }: Player): Promise<void> {
    const child = spawn(command, args, {
      stdio: ["ignore", "pipe", "pipe"],
      cwd: this.folder,
      // Nothing of the user's own: no relay, no keys, no model.
      env: {
        PATH: process.env["PATH"],
        HOME: this.#root,
        HANDFAST_URL: this.url,
        HANDFAST_HOME: this.#root,
        PYTHONDONTWRITEBYTECODE: "1",
        ...silent,
      },
    });
    endsWithUs(child);
    this.#running.set(worker, child);
    const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
    let said = "";
    const fail = (why: string) => reject(new Error(`${worker} ${why}:\n${said || "it said nothing"}`));
    const late = setTimeout(() => fail("was not ready in time"), start_ms);
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on("line", (line) => {
        said = `${said}${line}\n`.slice(-kept_output);
        if (line === "ready") resolve();
      });
    }
    child.once("error", (error) => fail(`could not be started (${error.message})`));
    child.once("close", (code, signal) => {
      fail(`ended with ${code ?? signal}`);
      if (code !== 0 && this.#running.has(worker))
        this.#faults.push(`${worker} ended with ${code ?? signal}:\n${said}`);
    });
    await ready.finally(() => clearTimeout(late));
  }
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "close");
  child.kill(signal);
  await gone;
}

async function stopped(child: ChildProcess): Promise<void> {
  const impatient = setTimeout(() => child.kill("SIGKILL"), stop_ms);
  await ended(child, "SIGTERM");
  clearTimeout(impatient);
}
