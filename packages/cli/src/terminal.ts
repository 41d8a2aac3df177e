/**
 * Where the command writes: data to stdout, messages to stderr; colour and live lines only where a person looks.
 * With --json stdout gets one JSON document or JSON lines and nothing else.
 */

import { type CommandName, spelled } from "./command-name.ts";
import { paint, type Style } from "./style.ts";
import { cleanText, cut, safeJson } from "./text.ts";

/** What is used of process.stdout and process.stderr. */
export interface Sink {
  write(text: string | Uint8Array): boolean;
  /** Of a stream: when what was written has been taken. */
  once?(event: "drain", listener: () => void): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface TerminalOptions {
  readonly out: Sink;
  readonly err: Sink;
  readonly json: boolean;
  /** --no-color was given. */
  readonly plain: boolean;
  readonly debug: boolean;
  /** How this command was called. Default: by its own name. */
  readonly command?: CommandName;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** How long something may take before a person is told that it goes on. */
const patience_ms = 1_000;
const tick_ms = 100;
const erase_line = "\r\x1b[2K";

export class Terminal {
  readonly json: boolean;
  readonly #command: CommandName;
  readonly debug: boolean;
  /** Whether a person looks at the messages, so that live lines make sense. */
  readonly isLive: boolean;
  readonly #out: Sink;
  readonly #err: Sink;
  readonly #paintsOut: boolean;
  readonly #paintsErr: boolean;
  #isLineOpen = false;

  constructor({ out, err, json, plain, debug, env, command = "handfast" }: TerminalOptions) {
    this.json = json;
    this.#command = command;
    this.debug = debug;
    this.#out = out;
    this.#err = err;
    this.isLive = err.isTTY === true && !json && env["TERM"] !== "dumb";
    this.#paintsOut = !plain && wantsColour(out, env);
    this.#paintsErr = !plain && wantsColour(err, env);
  }

  get outIsTty(): boolean {
    return this.#out.isTTY === true;
  }

  get columns(): number {
    // A terminal that does not know its width says 0.
    return this.#out.columns || 100;
  }

  /** Where lines on stdout are cut; null: nowhere, because they go to a file or a pipe. */
  get edge(): number | null {
    return this.outIsTty ? this.columns : null;
  }

  /** Text of ours with a style, for a line on stdout. */
  style(style: Style, text: string): string {
    return this.#paintsOut ? paint(style, text) : text;
  }

  /** The same for a message on stderr. */
  accent(style: Style, text: string): string {
    return this.#paintsErr ? paint(style, text) : text;
  }

  /** A line of data, in words; not with --json. */
  print(line = ""): void {
    this.settle();
    if (!this.json) this.#out.write(`${line}\n`);
  }

  lines(lines: readonly string[]): void {
    for (const line of lines) this.print(line);
  }

  /** Data as it came, without a line end; what could steer a terminal is removed where one is. */
  raw(text: string): void {
    this.settle();
    this.#out.write(this.outIsTty ? cleanText(text) : text);
  }

  /** The same for much data: resolves when there is room for more, so that a slow reader is waited for. */
  async rawWithRoom(text: string): Promise<void> {
    this.settle();
    const hasRoom = this.#out.write(this.outIsTty ? cleanText(text) : text);
    if (!hasRoom) await new Promise<void>((resolve) => this.#out.once?.("drain", resolve) ?? resolve());
  }

  /** Data that is no text, for files and pipes. */
  bytes(bytes: Uint8Array): void {
    this.settle();
    this.#out.write(bytes);
  }

  /** The one document of a command under --json: indented where a person looks. */
  document(value: unknown): void {
    this.settle();
    this.#out.write(`${safeJson(value, this.outIsTty ? 2 : 0)}\n`);
  }

  /** One of many under --json: one per line. */
  jsonLine(value: unknown): void {
    this.settle();
    this.#out.write(`${safeJson(value)}\n`);
  }

  /** A message to a person, on stderr, also under --json. */
  note(line: string): void {
    this.settle();
    this.#err.write(`${line}\n`);
  }

  /** A text of ours with commands in it, spelled as this one was called. */
  spelled(text: string): string {
    return spelled(text, this.#command);
  }

  /** What to type next; only where a person looks. */
  next(line: string): void {
    if (this.isLive) this.note(this.accent("dim", `next: ${this.spelled(line)}`));
  }

  /** Shows a line that the next one replaces. Nothing where nobody looks. */
  live(line: string): void {
    if (!this.isLive) return;
    this.#err.write(erase_line + cut(line, (this.#err.columns || 80) - 1));
    this.#isLineOpen = true;
  }

  /** Removes the live line. */
  settle(): void {
    if (!this.#isLineOpen) return;
    this.#isLineOpen = false;
    this.#err.write(erase_line);
  }

  /** Awaits what may take long; after a second a line tells that it goes on, with a bar once a fraction is known. */
  async busy<T>(what: string, work: Promise<T>, fraction: () => number | null = () => null): Promise<T> {
    if (!this.isLive) return work;
    const began = performance.now();
    const timer = setInterval(() => {
      const passed_ms = performance.now() - began;
      if (passed_ms >= patience_ms) this.live(`${bar(fraction())}${what} ${Math.floor(passed_ms / 1_000)} s`);
    }, tick_ms);
    try {
      return await work;
    } finally {
      clearInterval(timer);
      this.settle();
    }
  }
}

const bar_cells = 20;

/** `████████░░░░░░░░░░░░  40 % `; empty where nothing is known. */
export function bar(fraction: number | null): string {
  if (fraction === null) return "";
  const share = Math.min(1, Math.max(0, fraction));
  const full = Math.round(share * bar_cells);
  return `${"█".repeat(full)}${"░".repeat(bar_cells - full)} ${String(Math.round(share * 100)).padStart(3)} % `;
}

/** https://no-color.org and https://force-color.org; who says no wins. */
function wantsColour(sink: Sink, env: TerminalOptions["env"]): boolean {
  if ((env["NO_COLOR"] ?? "") !== "") return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined && forced !== "") return forced !== "0" && forced !== "false";
  return sink.isTTY === true && env["TERM"] !== "dumb";
}
