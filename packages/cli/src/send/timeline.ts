/** The one line that tells how a handoff goes: `accepted 3 ms · acknowledged by upper-1 9 ms · completed 14 ms`. */

import { bar, type Terminal } from "../terminal.ts";
import { cleanLine } from "../text.ts";

export class Timeline {
  readonly #terminal: Terminal;
  readonly #began: number;
  readonly #parts: string[] = [];
  #progress = "";
  #timer: NodeJS.Timeout | null = null;
  #isPaused = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#began = performance.now();
  }

  /** Something happened, such as "accepted", at a time of performance.now(). */
  mark(what: string, at = performance.now()): void {
    this.#parts.push(`${what} ${shortTime(at - this.#began)}`);
    this.#show();
    if (this.#terminal.isLive && !this.#isPaused) this.#timer ??= setInterval(() => this.#show(), 200).unref();
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

  /** Stops showing: something else is written now. */
  pause(): void {
    this.#isPaused = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#terminal.settle();
  }

  end(): void {
    this.pause();
    if (!this.#terminal.json && this.#parts.length > 0) this.#terminal.note(this.#terminal.accent("dim", this.#line()));
  }

  /** What changes stands first: the end of the line is cut where the terminal is narrow. */
  #show(): void {
    if (this.#isPaused) return;
    const waits = `${shortTime(performance.now() - this.#began)} …`;
    this.#terminal.live([this.#progress, waits, this.#line()].filter((part) => part !== "").join(" · "));
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
