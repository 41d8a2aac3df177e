/**
 * How a handoff goes: one line that is replaced while it goes on, lines above it for what a person should know, and at
 * the end `accepted 3 ms · acknowledged by upper-1 9 ms · completed 14 ms`. Without a terminal only the latter two.
 */

import { bar, type Terminal } from "../terminal.ts";
import { cleanLine } from "../text.ts";

const tick_ms = 200;

export class Timeline {
  readonly #terminal: Terminal;
  readonly #began: number;
  #last = 0;
  readonly #parts: string[] = [];
  #progress = "";
  /** What it waits for, in place of progress; empty: it goes on. */
  #standstill = "";
  #told = "";
  #timer: NodeJS.Timeout | null = null;
  #isPaused = false;
  /** Streamed text stands on the line where the cursor is. */
  #isInText = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#began = performance.now();
  }

  /**
   * Something happened, such as "accepted", at a time of performance.now(). Of what was over before it was asked about,
   * the end may be heard first: no time is before the one beside it.
   */
  mark(what: string, at = performance.now()): void {
    this.#last = Math.max(this.#last, at);
    this.#parts.push(`${what} ${shortTime(this.#last - this.#began)}`);
    this.#show();
    if (!this.#isPaused) this.#tick();
  }

  /** The same without a time. */
  add(what: string): void {
    this.#parts.push(what);
  }

  /** Where a line cannot be replaced, each report is a line of its own. */
  progress(fraction: number | null, note: string | null): void {
    const said = note === null ? "" : cleanLine(note);
    const shown = `${bar(fraction)}${said}`.trim();
    if (shown === "" || shown === this.#progress) return;
    this.#progress = shown;
    if (this.#terminal.isLive) this.#show();
    else if (!this.#terminal.json) {
      this.#terminal.note(["progress:", fraction === null ? "" : percent(fraction), said].filter(Boolean).join(" "));
    }
  }

  /** It goes no further until this is over, whatever was said about progress; empty: it goes on. */
  standstill(what: string): void {
    this.#standstill = what;
    this.#show();
  }

  /** Another attempt: what the last one said about progress is void. */
  forget(): void {
    this.#progress = "";
  }

  /** A line that stays. The same is not told twice in a row. */
  tell(line: string): void {
    if (this.#terminal.json || line === this.#told) return;
    this.#told = line;
    this.breakText();
    this.#terminal.note(line);
    this.resume();
  }

  /** A piece of text was streamed: the line must not come in between. */
  streamed(text: string): void {
    this.pause();
    this.#isInText = !text.endsWith("\n");
  }

  /** Ends the line of text on the terminal, which is no part of the text. */
  breakText(): void {
    if (this.#isInText && this.#terminal.outIsTty && this.#terminal.isLive) this.#terminal.note("");
    this.#isInText = false;
  }

  get isInText(): boolean {
    return this.#isInText;
  }

  /** Stops showing: something else is written now. */
  pause(): void {
    this.#isPaused = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#terminal.settle();
  }

  resume(): void {
    this.#isPaused = false;
    this.#tick();
    this.#show();
  }

  end(): void {
    this.pause();
    if (!this.#terminal.json && this.#parts.length > 0) this.#terminal.note(this.#terminal.accent("dim", this.#line()));
  }

  #tick(): void {
    if (this.#terminal.isLive) this.#timer ??= setInterval(() => this.#show(), tick_ms).unref();
  }

  /** What changes stands first: the end of the line is cut where the terminal is narrow. */
  #show(): void {
    if (this.#isPaused) return;
    const waits = `${shortTime(performance.now() - this.#began)} …`;
    const now = this.#standstill === "" ? this.#progress : this.#standstill;
    this.#terminal.live([now, waits, this.#line()].filter((part) => part !== "").join(" · "));
  }

  #line(): string {
    return this.#parts.join(" · ");
  }
}

function percent(fraction: number): string {
  return `${Math.round(Math.min(1, Math.max(0, fraction)) * 100)} %`;
}

/** `14 ms`, `2.3 s`, `4 min 05 s`. */
export function shortTime(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}
