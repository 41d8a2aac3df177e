/** A sender or a worker in a process of its own, that is killed and started again under the same name and key. */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { execPath } from "node:process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { endsWithUs } from "../support/end-at-once.ts";
import type { PartySettings } from "./life.ts";

export interface PartyRole {
  readonly kind: "sender" | "worker";
  /** What it is called in reports, and by the relay. */
  readonly name: string;
  /** The URL of its script. */
  readonly script: string;
  readonly settings: PartySettings;
  /** Where compiled code is kept, so that its next start is quicker. */
  readonly cache: string;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

const shown_chars = 4_000;

export class Party {
  readonly role: PartyRole;
  /** When it was killed, in milliseconds since 1970. */
  readonly killed_at: number[] = [];
  readonly #onFailure: (error: Error) => void;
  #child: Child;
  #ready: Promise<void>;
  #is_ready = false;
  #is_disposed = false;

  /** `onFailure` is told when it ends in any way that nobody meant. */
  constructor(role: PartyRole, onFailure: (error: Error) => void) {
    this.role = role;
    this.#onFailure = onFailure;
    this.#child = this.#spawn();
    this.#ready = this.#untilReady(this.#child);
  }

  /** Resolves once it is ready; also when it was killed before that. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  isReady(): boolean {
    return this.#is_ready;
  }

  async kill(): Promise<void> {
    this.#is_ready = false;
    this.killed_at.push(Date.now());
    const gone = once(this.#child.removeAllListeners("exit"), "exit");
    this.#child.kill("SIGKILL");
    await gone;
  }

  async start(): Promise<void> {
    if (this.#is_disposed) return;
    this.#child = this.#spawn();
    this.#ready = this.#untilReady(this.#child);
    return this.#ready;
  }

  /** Asks it to finish what it has begun, and waits until it has. */
  async finish(): Promise<void> {
    const gone = once(this.#child, "exit");
    this.#child.stdin.write("finish\n");
    await gone;
  }

  /** Whatever it is doing; it is never started again. */
  async dispose(): Promise<void> {
    this.#is_disposed = true;
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.kill();
  }

  #spawn(): Child {
    const { name, script, settings } = this.role;
    const child = spawn(execPath, [fileURLToPath(script), JSON.stringify(settings)], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { PATH: process.env["PATH"] ?? "", NODE_COMPILE_CACHE: this.role.cache },
    });
    endsWithUs(child);
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-shown_chars);
    });
    // A process that was just killed takes no more words.
    child.stdin.on("error", () => {});
    child.on("exit", (code, signal) => {
      if (code !== 0) this.#onFailure(new Error(`${name} ended by itself with ${code ?? signal}:\n${said}`));
    });
    return child;
  }

  #untilReady(child: Child): Promise<void> {
    this.#is_ready = false;
    return new Promise((resolve) => {
      child.stdout.once("data", () => {
        this.#is_ready = true;
        resolve();
      });
      child.once("close", () => resolve());
    });
  }
}
