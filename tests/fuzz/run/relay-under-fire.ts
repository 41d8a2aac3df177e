/** The relay that is fuzzed: a process of its own with a bounded heap, whose memory and log are watched. */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endsWithUs, goesWithUs } from "../../support/end-at-once.ts";
import { type Bug, withBug } from "../../support/put-back.ts";

const main = join(import.meta.dirname, "../../../packages/relay/src/main.ts");
const start_within_ms = 60_000;
const stop_within_ms = 60_000;
/** Of /proc: a hundredth of a second wherever Node runs on Linux. */
const clock_tick_ms = 10;
const error_level = 50;
const warn_level = 40;

export interface RelayOptions {
  readonly heap_mb: number;
  /** A known bug that is put back while the relay is loaded. */
  readonly bug?: Bug;
}

export class RelayUnderFire {
  /** Any that is free, and the same after a restart. */
  #port = 0;
  /** Only the relay's own data directory is in it: what else turns up here, the relay was talked into. */
  readonly room: string;
  readonly directory: string;
  /** Lines of its log that tell of a mistake of its own. */
  readonly errors: string[] = [];
  warnings = 0;
  readonly #options: RelayOptions;
  readonly #forgetRoom: () => void;
  #child: ChildProcess | null = null;
  #output = "";
  #onTrouble: (what: string) => void = () => {};

  private constructor(room: string, options: RelayOptions) {
    this.room = room;
    this.#forgetRoom = goesWithUs(room);
    this.directory = join(room, "data");
    this.#options = options;
  }

  static async start(options: RelayOptions): Promise<RelayUnderFire> {
    const room = mkdtempSync(join(someFolder(), "handfast-fuzz-"));
    const relay = new RelayUnderFire(room, options);
    mkdirSync(relay.directory);
    try {
      await relay.start();
    } catch (error) {
      await relay.dispose();
      throw error;
    }
    return relay;
  }

  /** Told at once when the process ends by itself, or writes of a mistake. */
  onTrouble(listener: (what: string) => void): void {
    this.#onTrouble = listener;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get isAlive(): boolean {
    return this.#child !== null && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The end of what it printed. */
  get output(): string {
    return this.#output;
  }

  get operator_token(): string {
    return readFileSync(join(this.directory, "operator-token"), "utf8").trim();
  }

  /** Memory of the process that is in the machine's; 0 where the system does not tell. */
  get rss_mb(): number {
    try {
      const status = readFileSync(`/proc/${this.#child?.pid}/status`, "utf8");
      return Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1_024);
    } catch {
      return 0;
    }
  }

  /** Time that its threads have had a processor; 0 where the system does not tell. */
  get cpu_ms(): number {
    try {
      const fields = readFileSync(`/proc/${this.#child?.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return (Number(fields[11]) + Number(fields[12])) * clock_tick_ms;
    } catch {
      return 0;
    }
  }

  async start(): Promise<void> {
    const { heap_mb, bug } = this.#options;
    const generous = ["--requests-per-second", "1000000", "--request-burst", "1000000"];
    const retention = ["--keep-taken", "30s", "--log-level", "warn"];
    const flags = ["--port", `${this.#port}`, "--data", this.directory, ...generous, ...retention];
    const child = spawn(process.execPath, [`--max-old-space-size=${heap_mb}`, main, ...flags], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env["PATH"] ?? "", ...(bug === undefined ? {} : withBug(bug)) },
      cwd: this.room,
    });
    endsWithUs(child);
    this.#child = child;
    this.#output = "";
    this.#listen(child);
    const until = performance.now() + start_within_ms;
    while (!(await this.#isReady())) {
      if (!this.isAlive) throw new Error(`the relay exited with ${child.exitCode}:\n${this.#output}`);
      if (performance.now() > until) throw new Error(`the relay was not ready in time:\n${this.#output}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  #listen(child: ChildProcess): void {
    let line = "";
    const keep = (chunk: Buffer) => {
      this.#output = (this.#output + chunk.toString()).slice(-20_000);
      line += chunk.toString();
      const lines = line.split("\n");
      line = lines.pop() ?? "";
      for (const each of lines) this.#read(each);
    };
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);
    child.once("exit", (code, signal) => this.#onTrouble(`the relay ended by itself: ${code ?? signal}`));
  }

  #read(line: string): void {
    const level = Number(/^\{"level":(\d+),/.exec(line)?.[1] ?? 0);
    if (level === warn_level) this.warnings += 1;
    if (level < error_level) return;
    this.errors.push(line);
    this.#onTrouble(`the relay logged a mistake: ${line.slice(0, 2_000)}`);
  }

  async #isReady(): Promise<boolean> {
    const said = /^relay http:\/\/127\.0\.0\.1:(\d+) /m.exec(this.#output)?.[1];
    if (said === undefined) return false;
    this.#port = Number(said);
    try {
      return (await fetch(`${this.url}/readyz`)).ok;
    } catch {
      return false;
    }
  }

  /** Ends it and waits until it is gone; the exit code, null where it took too long and was killed. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<number | null> {
    const child = this.#child;
    if (child === null || !this.isAlive) return child?.exitCode ?? null;
    this.#onTrouble = () => {};
    const gone = new Promise<number | null>((resolve) => child.once("exit", resolve));
    child.kill(signal);
    const timer = setTimeout(() => child.kill("SIGKILL"), stop_within_ms);
    return gone.finally(() => clearTimeout(timer));
  }

  async dispose(): Promise<void> {
    await this.end("SIGKILL");
    rmSync(this.room, { recursive: true, force: true });
    this.#forgetRoom();
  }
}

const memory_folder = "/dev/shm";
const memory_least_bytes = 4e9;

/** In memory, where there is plenty: what a disk does is not looked at here, and waiting for it is most of the time. */
function someFolder(): string {
  if (process.env["TMPDIR"] !== undefined || !existsSync(memory_folder)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory_folder);
  return bavail * bsize >= memory_least_bytes ? memory_folder : tmpdir();
}
