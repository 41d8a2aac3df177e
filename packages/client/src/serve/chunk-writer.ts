/**
 * Streamed text on its way to the relay: in order, by offset, what comes while a chunk is on its way goes with the next.
 * Nothing here ever rejects: `ctx.write` is handed out as a plain callback, and the outcome alone is authoritative.
 */

import type { Base } from "../base.ts";
import { HandoffError } from "../errors.ts";
import type { Held } from "./held.ts";
import { serveLimits as limits } from "./limits.ts";

export class ChunkWriter {
  readonly #base: Base;
  readonly #held: Held;
  /** From the beginning on, as long as it is not too much to be written once more. */
  #kept: string | null = "";
  #pending = "";
  #offset = 0;
  #sending: Promise<void> | null = null;
  #given_up = false;

  constructor(base: Base, held: Held) {
    this.#base = base;
    this.#held = held;
  }

  /** Resolves at once while little waits to be sent, else when the relay has caught up. */
  async write(text: string): Promise<void> {
    if (this.#given_up || this.#held.isOver) return;
    this.#pending += text;
    if (this.#pending.length > limits.chunk_pending_chars) {
      return this.#giveUp(new Error("it is written faster than the relay takes it, and nobody waits for ctx.write"));
    }
    this.#sending ??= this.#send();
    if (this.#pending.length > limits.chunk_backlog_chars) await this.#sending;
  }

  /** Everything written so far is at the relay, or never will be. */
  async finish(): Promise<void> {
    this.#pending = this.#pending.toWellFormed();
    if (this.#pending !== "") this.#sending ??= this.#send();
    await this.#sending;
  }

  async #send(): Promise<void> {
    // What is written in the same tick goes along.
    await Promise.resolve();
    for (let text = this.#next(); text !== ""; text = this.#next()) {
      if (!(await this.#put(text))) break;
    }
    this.#sending = null;
  }

  /** Half of a surrogate pair waits for its other half. */
  #next(): string {
    if (this.#given_up || this.#held.isOver) return "";
    let end = Math.min(this.#pending.length, limits.chunk_chars);
    if (isHighSurrogate(this.#pending.charCodeAt(end - 1))) end -= 1;
    const text = this.#pending.slice(0, end).toWellFormed();
    this.#pending = this.#pending.slice(end);
    return text;
  }

  async #put(text: string): Promise<boolean> {
    this.#keep(text);
    try {
      await this.#call(this.#offset, text);
      this.#offset += text.length;
      return true;
    } catch (error) {
      if (error instanceof HandoffError && error.reason === "chunk_gap") return this.#writeAgain();
      this.#giveUp(error);
      return false;
    }
  }

  #keep(text: string): void {
    if (this.#kept === null) return;
    this.#kept = this.#kept.length + text.length > limits.chunk_kept_chars ? null : this.#kept + text;
  }

  /** The relay keeps streams in memory only: after its restart they begin anew. */
  async #writeAgain(): Promise<boolean> {
    const whole = this.#kept;
    if (whole === null) {
      this.#giveUp(new Error("the relay lost the stream's beginning, which is too long to be written again"));
      return false;
    }
    this.#offset = 0;
    this.#kept = "";
    this.#pending = whole + this.#pending;
    return true;
  }

  #giveUp(error: unknown): void {
    this.#given_up = true;
    this.#pending = "";
    this.#held.refused(error);
    if (this.#held.isOver) return;
    const why = error instanceof Error ? error.message : String(error);
    const { id } = this.#held.lease;
    this.#base.warn({
      reason: "stream_broken",
      message: `The text streamed by handoff ${id} ends here: ${why}`,
      handoff: id,
    });
  }

  async #call(offset: number, text: string): Promise<void> {
    const { lease, holder, signal } = this.#held;
    const call = { params: { id: lease.id }, body: { ...holder, offset, text } };
    await this.#base.link.call("write_chunk", call, { signal, patience_ms: this.#held.deadline_ms() });
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
