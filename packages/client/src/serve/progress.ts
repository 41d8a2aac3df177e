/** How far the work is: the whole state each time, so what comes too fast replaces what was not sent yet. */

import type { Base } from "../base.ts";
import type { Held } from "./held.ts";
import { serveLimits as limits } from "./limits.ts";

interface State {
  readonly fraction?: number;
  readonly note?: string;
}

export class Progress {
  readonly #base: Base;
  readonly #held: Held;
  #unsent: State | null = null;
  #sent_at = Number.NEGATIVE_INFINITY;
  #sending: Promise<void> | null = null;
  #cancelTimer: (() => void) | null = null;

  constructor(base: Base, held: Held) {
    this.#base = base;
    this.#held = held;
  }

  report(fraction?: number, note?: string): void {
    if (this.#held.isOver) return;
    this.#unsent = {
      ...(fraction === undefined || Number.isNaN(fraction) ? {} : { fraction: Math.min(1, Math.max(0, fraction)) }),
      ...(note === undefined ? {} : { note: note.toWellFormed().slice(0, limits.progress_note_chars).toWellFormed() }),
    };
    this.#schedule();
  }

  /** The last one is at the relay, or never will be. */
  async finish(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = () => {};
    await this.#sending;
    await this.#send();
  }

  #schedule(): void {
    if (this.#sending !== null || this.#cancelTimer !== null) return;
    const { surroundings } = this.#base;
    const wait_ms = this.#sent_at + limits.progress_ms - surroundings.now();
    this.#cancelTimer = surroundings.after(Math.max(0, wait_ms), () => {
      this.#cancelTimer = null;
      this.#sending = this.#send().then(() => {
        this.#sending = null;
        if (this.#unsent !== null) this.#schedule();
      });
    });
  }

  async #send(): Promise<void> {
    const progress = this.#unsent;
    this.#unsent = null;
    if (progress === null || this.#held.isOver) return;
    this.#sent_at = this.#base.surroundings.now();
    const { lease, holder, signal } = this.#held;
    const call = { params: { id: lease.id }, body: { ...holder, progress } };
    // Lost progress is made good by the next; whether the lease lives is told by its heartbeats.
    await this.#base.link.call("heartbeat", call, { signal, patience_ms: limits.progress_ms }).catch(() => {});
  }
}
