/** A participant's program in a process of its own, told what to do by lines of JSON. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { SenderCommand, SenderMessage, WorkerCommand } from "../protocol.ts";
import type { SenderSeat, WorkerSeat } from "./row.ts";

const stop_within_ms = 20_000;
const kept_output = 8_000;

export interface Program {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  /** How long its answers may take; frameworks take their time to load. */
  readonly patience_ms: number;
}

type Message = Readonly<Record<string, unknown>>;

export class LineProcess {
  readonly #child: ChildProcess;
  readonly #program: Program;
  readonly #messages: Message[] = [];
  readonly #waiting = new Set<() => void>();
  #output = "";

  constructor(program: Program) {
    this.#program = program;
    const child = spawn(program.command, program.arguments, {
      stdio: ["pipe", "pipe", "pipe"],
      cwd: program.folder,
      // A group of its own, so that a kill reaches whatever it started.
      detached: true,
      env: { PATH: process.env["PATH"] ?? "", ...program.environment },
    });
    this.#child = child;
    // Whoever started it and exits, however, takes it along, with whatever it started itself.
    const endGroup = () => this.#signalGroup();
    process.once("exit", endGroup);
    child.once("close", () => process.off("exit", endGroup));
    // Whoever is killed does not read the rest.
    child.stdin?.on("error", () => {});
    if (child.stdout !== null) createInterface({ input: child.stdout }).on("line", (line) => this.#read(line));
    child.stderr?.on("data", (chunk: Buffer) => this.#keep(chunk.toString()));
    child.once("close", () => this.#wake());
    child.once("error", (error) => this.#keep(`${error.message}\n`));
  }

  tell(command: WorkerCommand | SenderCommand): void {
    this.#child.stdin?.write(`${JSON.stringify(command)}\n`);
  }

  /** The first message that fits, also one that came before. */
  async message<T extends Message>(fits: (message: Message) => message is T, what: string): Promise<T> {
    const until = performance.now() + this.#program.patience_ms;
    for (;;) {
      const found = this.#messages.find(fits);
      if (found !== undefined) return found;
      if (this.#hasEnded) throw new Error(`it ended before ${what}:\n${this.#output}`);
      const left_ms = until - performance.now();
      if (left_ms <= 0) throw new Error(`${what} did not come in ${this.#program.patience_ms} ms:\n${this.#output}`);
      await this.#next(left_ms);
    }
  }

  count(fits: (message: Message) => boolean): number {
    return this.#messages.filter(fits).length;
  }

  async kill(): Promise<void> {
    await this.#end();
  }

  /** By the end of its input; what does not stop in time is killed, and that is a fault. */
  async stop(): Promise<void> {
    if (this.#hasEnded) return;
    this.#child.stdin?.end();
    const timer = setTimeout(() => void this.#end(), stop_within_ms);
    await this.#gone();
    clearTimeout(timer);
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== 0) throw new Error(`it ended with ${exitCode ?? signalCode}:\n${this.#output}`);
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined;
  }

  #read(line: string): void {
    const message = parsed(line);
    if (message !== null) this.#messages.push(message);
    // What broke is shown also to whoever waits for something else in vain.
    if (message === null || message["broken"] !== undefined) this.#keep(`${line}\n`);
    this.#wake();
  }

  #keep(text: string): void {
    this.#output = (this.#output + text).slice(-kept_output);
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }

  #next(within_ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, within_ms);
      this.#waiting.add(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async #end(): Promise<void> {
    this.#signalGroup();
    await this.#gone();
  }

  #signalGroup(): void {
    const { pid } = this.#child;
    if (pid !== undefined && !this.#hasEnded) process.kill(-pid, "SIGKILL");
  }

  async #gone(): Promise<void> {
    if (!this.#hasEnded) await once(this.#child, "close");
  }
}

/** Frameworks print what they like; only an object on a line of its own is meant for us. */
function parsed(line: string): Message | null {
  if (!line.startsWith("{")) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

export class WorkerProcess implements WorkerSeat {
  readonly #process: LineProcess;

  constructor(program: Program) {
    this.#process = new LineProcess(program);
  }

  async serve(agent: string, capability: string): Promise<void> {
    this.#process.tell({ serve: { agent, capability } });
    const isServing = (message: Message): message is Message => message["serving"] === capability;
    await this.#process.message(isServing, `the offer of ${capability}`);
  }

  kill(): Promise<void> {
    return this.#process.kill();
  }

  stop(): Promise<void> {
    return this.#process.stop();
  }
}

function isSent(tag: string, handoff: unknown): (message: Message) => boolean {
  return (message) => message["tag"] === tag && message["sent"] !== undefined && message["sent"] === handoff;
}

export class SenderProcess implements SenderSeat {
  readonly #process: LineProcess;

  constructor(program: Program) {
    this.#process = new LineProcess(program);
  }

  tell(command: SenderCommand): void {
    this.#process.tell(command);
  }

  async heard<Name extends keyof SenderMessage>(tag: string, member: Name): Promise<NonNullable<SenderMessage[Name]>> {
    // What wakes a run knows the handoff, and not what the suite calls it.
    const isBroken = (message: Message) =>
      message["broken"] !== undefined &&
      (message["tag"] === tag || this.#process.count(isSent(tag, message["tag"])) > 0);
    const fits = (message: Message): message is Message & Partial<SenderMessage> =>
      (message["tag"] === tag && message[member] !== undefined) || isBroken(message);
    const message: Partial<SenderMessage> = await this.#process.message(fits, `${member} of ${tag}`);
    const said = message[member];
    if (said == null) throw new Error(`${tag}: ${message.broken}`);
    return said;
  }

  count(tag: string, member: keyof SenderMessage): number {
    return this.#process.count((message) => message["tag"] === tag && message[member] !== undefined);
  }

  kill(): Promise<void> {
    return this.#process.kill();
  }

  stop(): Promise<void> {
    return this.#process.stop();
  }
}
