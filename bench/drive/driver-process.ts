/** A driver in a process of its own, seen from the benchmark: every system is driven from a fresh one. */

import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import type { Disk } from "../disk/disk.ts";
import type { SteadyFigure } from "../measure.ts";
import { reasonOf, Unavailable } from "../obtain/unavailable.ts";
import type { Address } from "../servers/server.ts";
import type { DrivenFigure, Order, Report } from "./drive.ts";
import type { DriverKind } from "./open-driver.ts";

const main = join(import.meta.dirname, "../main.ts");
/** Beside the time that was asked for: what is on its way must still end, or miss its deadline of a minute and say so. */
const patience_ms = 90_000;
const close_within_ms = 3_000;

const running = new Set<DriverProcess>();

export interface DriverProcessOptions {
  /** Under the driver itself, for those that keep their store in it. */
  readonly disk: Disk;
  /** Where it puts what it needs for a while. */
  readonly temporary: string;
  readonly node_args?: readonly string[];
  readonly open_within_ms?: number;
}

export class DriverProcess {
  readonly #child: ChildProcess;
  #output = "";

  private constructor({ disk, temporary, node_args = [] }: DriverProcessOptions) {
    const { program, args, env } = disk.wrap({ program: process.execPath, args: [...node_args, main, "drive"] });
    this.#child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      env: { ...process.env, ...env, TMPDIR: temporary },
    });
    const keep = (chunk: Buffer) => {
      this.#output = (this.#output + chunk.toString()).slice(-20_000);
    };
    this.#child.stdout?.on("data", keep);
    this.#child.stderr?.on("data", keep);
    running.add(this);
    this.#child.once("exit", () => running.delete(this));
  }

  static async open(driver: DriverKind, address: Address, options: DriverProcessOptions): Promise<DriverProcess> {
    const made = new DriverProcess(options);
    try {
      await made.#ask({ do: "open", driver, address }, options.open_within_ms ?? patience_ms);
      return made;
    } catch (error) {
      made.kill();
      throw error;
    }
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error("the driver does not run");
    return this.#child.pid;
  }

  /** The last of what it printed. */
  get output(): string {
    return this.#output;
  }

  async atOnce(concurrency: number, seconds: number): Promise<DrivenFigure> {
    const report = await this.#ask({ do: "at once", concurrency, seconds }, seconds * 1_000 + patience_ms);
    if (report.done !== "at once") throw new Error("the driver answered something else");
    return report.figure;
  }

  async steadily(rate: number, seconds: number): Promise<SteadyFigure> {
    const report = await this.#ask({ do: "steadily", rate, seconds }, seconds * 1_000 + patience_ms);
    if (report.done !== "steadily") throw new Error("the driver answered something else");
    return report.figure;
  }

  /** Closes in order, and not at all costs: its figures are in. */
  async close(): Promise<void> {
    try {
      await this.#ask({ do: "close" }, close_within_ms);
    } catch (error) {
      process.stderr.write(`a driver did not close: ${reasonOf(error)}\n`);
    }
    this.kill();
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #ask(order: Order, within_ms: number): Promise<Extract<Report, { done: string }>> {
    const { promise, resolve, reject } = Promise.withResolvers<Extract<Report, { done: string }>>();
    const hear = (report: Report) => ("failed" in report ? reject(new Unavailable(report.failed)) : resolve(report));
    const fail = (why: string) =>
      reject(new Unavailable(`${why} ${this.#output.slice(-300).replaceAll(/\s+/g, " ")}`.trim()));
    const gone = (code: number | null) => fail(`the driver ended with ${code}.`);
    const timer = setTimeout(() => fail(`the driver did not ${order.do} within ${within_ms / 1_000} s.`), within_ms);
    this.#child.once("message", hear);
    this.#child.once("exit", gone);
    this.#child.send(order, (error) => error && fail(error.message));
    return promise.finally(() => {
      clearTimeout(timer);
      this.#child.off("message", hear);
      this.#child.off("exit", gone);
    });
  }

  static killAll(): void {
    for (const driver of running) driver.kill();
  }
}
