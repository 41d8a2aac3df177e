/**
 * Requests that stop in the middle and leave the connection open. Each must be answered or cut when its time is over;
 * meanwhile others go on, so they are looked after here, and the lanes do not wait for them.
 */

import type { HttpWire } from "../wire/http-wire.ts";

/** The longest of the relay's own limits for what comes slowly (20 s for a body), and as much again. */
const ended_within_ms = 60_000;

export class Slow {
  #most: number;
  readonly #open = new Set<Promise<void>>();
  readonly faults: string[] = [];
  begun = 0;
  /** Answered with a status, by the relay, before it cut the connection. */
  answered = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** No more of them: the run comes to its end, and would have to wait for each. */
  close(): void {
    this.#most = 0;
  }

  get isFull(): boolean {
    return this.#open.size >= this.#most;
  }

  begin(wire: HttpWire, bytes: Buffer): void {
    this.begun += 1;
    const over = this.#follow(wire, bytes).finally(() => this.#open.delete(over));
    this.#open.add(over);
  }

  async #follow(wire: HttpWire, bytes: Buffer): Promise<void> {
    const answer = await wire.answer("POST", ended_within_ms);
    wire.drop();
    if (answer.kind === "reply") {
      this.answered += 1;
      if (answer.reply.status < 400 || answer.reply.status >= 500)
        this.#fault(`was answered with ${answer.reply.status}`, bytes);
    } else if (answer.kind === "late") {
      this.#fault(`was still waited for after ${ended_within_ms} ms`, bytes);
    }
  }

  #fault(what: string, bytes: Buffer): void {
    this.faults.push(`half a request ${what}: ${JSON.stringify(bytes.toString("latin1").slice(0, 500))}`);
  }

  async allEnded(): Promise<void> {
    await Promise.all([...this.#open]);
  }
}
