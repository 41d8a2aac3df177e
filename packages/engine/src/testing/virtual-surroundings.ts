/** For tests: time that passes only when told to, and randomness that is always the same. */

import { setImmediate } from "node:timers/promises";
import type { Duration, Time } from "@handfast/core";
import type { Surroundings } from "../surroundings.ts";

interface Timer {
  readonly at: Time;
  readonly callback: () => void;
}

export class VirtualSurroundings implements Surroundings {
  #now: Time;
  #random = 1;
  readonly #timers = new Set<Timer>();

  constructor(now: Time) {
    this.#now = now;
  }

  now(): Time {
    return this.#now;
  }

  random(): number {
    return 0.5;
  }

  randomBytes(count: number): Uint8Array {
    this.#random += 1;
    return new Uint8Array(count).fill(this.#random % 256);
  }

  schedule(delay_ms: Duration, callback: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, delay_ms), callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  defer(callback: () => void): void {
    globalThis.setImmediate(callback);
  }

  /** Lets everything that is under way come to rest, without time passing. */
  async rest(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
  }

  /** Passes time, each timer at its own moment. */
  async advance(duration_ms: Duration): Promise<void> {
    const until = this.#now + duration_ms;
    await this.rest();
    for (let next = this.#earliest(until); next !== undefined; next = this.#earliest(until)) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await this.rest();
    }
    this.#now = until;
    await this.rest();
  }

  /** The process was stopped for a while: time passed, no timer ran. */
  async stall(duration_ms: Duration): Promise<void> {
    this.#now += duration_ms;
    await this.advance(0);
  }

  #earliest(until: Time): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= until && (earliest === undefined || timer.at < earliest.at)) earliest = timer;
    }
    return earliest;
  }
}
