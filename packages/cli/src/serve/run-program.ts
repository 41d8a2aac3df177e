/**
 * One run of a program: the input on stdin, the output from stdout, up to a limit; lines of stderr and of file
 * descriptor 3 as they come; ended, with all that it forked, when the signal says so. Memory is bounded whatever it
 * writes, and the run is over at the latest a few seconds after the program is, whatever it left behind.
 */

import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { serveLimits as limits } from "./limits.ts";
import { ProcessGroup } from "./process-group.ts";
import { Lines, Tail } from "./tail.ts";

export interface ProgramRun {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: string;
  readonly output_bytes: number;
  /** From SIGTERM to SIGKILL. */
  readonly kill_ms?: number;
  readonly signal: AbortSignal;
  /** A line on stderr. */
  readonly onNote: (line: string) => void;
  /** A line on file descriptor 3. */
  readonly onControl: (line: string) => void;
  /** What comes on stdout, as it comes; the program waits while the promise does. */
  readonly onOutput?: (bytes: Buffer) => Promise<void>;
}

export type ProgramEnd =
  | { readonly kind: "exited"; readonly code: number; readonly output: Buffer; readonly stderr: string }
  | { readonly kind: "killed"; readonly signal: NodeJS.Signals; readonly stderr: string }
  /** It wrote more than a payload holds, and was ended. */
  | { readonly kind: "too_much"; readonly stderr: string }
  /** The signal aborted, and it was ended. */
  | { readonly kind: "stopped" }
  | { readonly kind: "not_started"; readonly error: Error };

export function runProgram(run: ProgramRun): Promise<ProgramEnd> {
  return new Promise((resolve) => new Run(run, resolve).start());
}

class Run {
  readonly #run: ProgramRun;
  readonly #resolve: (end: ProgramEnd) => void;
  readonly #stderr = new Tail(limits.stderr_bytes);
  #output: Buffer[] = [];
  #output_bytes = 0;
  #child: ChildProcess | null = null;
  #group: ProcessGroup | null = null;
  #ended: { readonly code: number | null; readonly signal: NodeJS.Signals | null } | null = null;
  #isTooMuch = false;
  #isEnding = false;
  #isOver = false;
  #callOff: () => void = () => {};

  constructor(run: ProgramRun, resolve: (end: ProgramEnd) => void) {
    this.#run = run;
    this.#resolve = resolve;
  }

  start(): void {
    const { command, cwd, env, signal } = this.#run;
    if (signal.aborted) return this.#finish({ kind: "stopped" });
    const [program, ...words] = command;
    const child = spawn(program, words, { cwd, env, detached: true, stdio: ["pipe", "pipe", "pipe", "pipe"] });
    this.#child = child;
    this.#group = new ProcessGroup(child);
    child.on("error", (error) => {
      if (child.pid === undefined) this.#finish({ kind: "not_started", error });
    });
    child.on("exit", (code, by) => this.#exited(code, by));
    child.on("close", () => this.#closed());
    this.#read(child);
    // A program need not read its input.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(this.#run.stdin);
    signal.addEventListener("abort", this.#end, { once: true });
  }

  #read(child: ChildProcess): void {
    const notes = new Lines(limits.note_chars, this.#run.onNote);
    child.stderr?.on("data", (bytes: Buffer) => {
      this.#stderr.add(bytes);
      notes.add(bytes);
    });
    child.stderr?.on("end", () => notes.end());
    const control = child.stdio[3] as Readable;
    const controls = new Lines(limits.control_bytes, this.#run.onControl);
    control.on("data", (bytes: Buffer) => controls.add(bytes));
    control.on("end", () => controls.end());
    child.stdout?.on("data", (bytes: Buffer) => this.#take(bytes));
    for (const stream of [child.stdout, child.stderr, control]) stream?.on("error", () => undefined);
  }

  #take(bytes: Buffer): void {
    if (this.#isTooMuch) return;
    this.#output_bytes += bytes.length;
    if (this.#output_bytes > this.#run.output_bytes) {
      this.#isTooMuch = true;
      this.#output = [];
      // Nobody reads on: the next write ends most programs by itself.
      this.#child?.stdout?.destroy();
      return this.#end();
    }
    this.#output.push(bytes);
    if (this.#run.onOutput === undefined) return;
    this.#child?.stdout?.pause();
    this.#run.onOutput(bytes).finally(() => this.#child?.stdout?.resume());
  }

  readonly #end = () => {
    if (this.#isEnding || this.#isOver) return;
    this.#isEnding = true;
    this.#callOff();
    this.#callOff = this.#group?.end(this.#run.kill_ms ?? limits.kill_ms, () => this.#letGo()) ?? (() => {});
  };

  /** What it forked may hold its output open: they get a moment to finish, then they are ended too. */
  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    this.#ended = { code, signal };
    if (this.#isEnding) return;
    const timer = setTimeout(this.#end, limits.drain_ms);
    this.#callOff = () => clearTimeout(timer);
  }

  /** Even what fled from the group no longer keeps us: its streams are closed from our side. */
  #letGo(): void {
    for (const stream of this.#child?.stdio ?? []) stream?.destroy();
    if (this.#ended !== null) this.#closed();
  }

  #closed(): void {
    const { code = null, signal = null } = this.#ended ?? {};
    const stderr = this.#stderr.text();
    if (this.#run.signal.aborted) this.#finish({ kind: "stopped" });
    else if (this.#isTooMuch) this.#finish({ kind: "too_much", stderr });
    else if (code !== null) this.#finish({ kind: "exited", code, output: Buffer.concat(this.#output), stderr });
    else this.#finish({ kind: "killed", signal: signal ?? "SIGKILL", stderr });
  }

  #finish(end: ProgramEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#callOff();
    this.#run.signal.removeEventListener("abort", this.#end);
    this.#group?.forget();
    this.#resolve(end);
  }
}
