/** The demo's stage: a relay and agents as real processes, on a free port of this machine, in a folder of their own. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Client, connect } from "@handfast/client";

const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const start_ms = 15_000;

export class Stage {
  readonly #folder: string;
  readonly #running = new Set<ChildProcess>();
  #relay: ChildProcess | null = null;
  #port = 0;
  #client: Client | null = null;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(): Promise<Stage> {
    const stage = new Stage(await mkdtemp(join(tmpdir(), "handfast-demo-")));
    try {
      await stage.startRelay();
      stage.#client = await connect({
        url: stage.url,
        agent: "you",
        home: stage.#folder,
        patience: "20s",
        onWarning: () => undefined,
      });
      return stage;
    } catch (error) {
      await stage.close();
      throw error;
    }
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get client(): Client {
    if (this.#client === null) throw new Error("the stage is not open");
    return this.#client;
  }

  /** On the same store and port as before, if it ran before. */
  async startRelay(): Promise<void> {
    const options = ["--port", String(this.#port), "--data", join(this.#folder, "relay"), "--log-level", "error"];
    const relay = this.#spawn([file("../../bin/handfast.js"), "start", ...options]);
    const said = await firstLine(relay, /http:\/\/127\.0\.0\.1:(\d+)/);
    this.#port = Number(said[1]);
    this.#relay = relay;
  }

  /** SIGKILL: nothing is told, nothing is tidied. */
  async killRelay(): Promise<void> {
    if (this.#relay !== null) await kill(this.#relay);
    this.#relay = null;
  }

  async agent(role: string, agent: string, worker: string): Promise<ChildProcess> {
    const process = this.#spawn([file(`./agent.${extension}`), role], {
      HANDFAST_URL: this.url,
      HANDFAST_AGENT: agent,
      HANDFAST_HOME: this.#folder,
      DEMO_WORKER: worker,
    });
    await firstLine(process, /ready/);
    return process;
  }

  #spawn(args: readonly string[], more: Readonly<Record<string, string>> = {}): ChildProcess {
    // What the user's own shell says about relays and keys is not for the demo.
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("HANDFAST_"));
    const env = { ...Object.fromEntries(inherited), ...more };
    const child = spawn(execPath, args, { stdio: ["ignore", "pipe", "pipe"], env, cwd: this.#folder });
    this.#running.add(child);
    child.once("exit", () => this.#running.delete(child));
    return child;
  }

  async close(): Promise<void> {
    await this.#client?.close();
    await Promise.all([...this.#running].map(kill));
    await rm(this.#folder, { recursive: true, force: true });
  }
}

export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** What it said so far is told when it ends before the line comes. */
function firstLine(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  const said: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>();
  const fail = (why: string) => reject(new Error(`${why}: ${said.join("\n") || "it said nothing"}`));
  const late = setTimeout(() => fail("a process of the demo did not start in time"), start_ms);
  const listen = (stream: ChildProcess["stdout"]) => {
    if (stream === null) return;
    createInterface(stream).on("line", (line) => {
      said.push(line);
      const found = pattern.exec(line);
      if (found !== null) resolve(found);
    });
  };
  listen(child.stdout);
  listen(child.stderr);
  child.once("exit", (code) => fail(`a process of the demo ended with ${code}`));
  return promise.finally(() => clearTimeout(late));
}
