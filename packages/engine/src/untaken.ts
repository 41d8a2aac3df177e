/**
 * Work that other nodes left ready. It is theirs for a moment: their own workers are likely to ask for it, and work that changes its
 * node costs both of them more. What is still there afterwards is anybody's.
 */

import type { Duration, Time } from "@handfast/core";
import type { Surroundings } from "./surroundings.ts";

interface Left {
  readonly namespace: string;
  readonly queue: string;
  readonly until: Time;
}

/** Whoever accepted it may have been so much ahead of the database's clock. */
const clocks_differ_ms: Duration = 15;

export class Untaken {
  readonly #surroundings: Surroundings;
  readonly #stays_ms: Duration;
  readonly #onLeft: (left: Iterable<Left>) => void;
  /** By what it is, the one that was left first at the front. */
  readonly #left = new Map<string, Left>();
  #is_armed = false;

  constructor(surroundings: Surroundings, stays_ms: Duration, onLeft: (left: Iterable<Left>) => void) {
    this.#surroundings = surroundings;
    this.#stays_ms = stays_ms;
    this.#onLeft = onLeft;
  }

  put(namespace: string, handoff: string, queue: string): void {
    const name = `${namespace} ${handoff}`;
    this.#left.delete(name);
    const wait_ms = this.#stays_ms + clocks_differ_ms;
    this.#left.set(name, { namespace, queue, until: this.#surroundings.now() + wait_ms });
    this.#arm(wait_ms);
  }

  taken(namespace: string, handoff: string): void {
    this.#left.delete(`${namespace} ${handoff}`);
  }

  /** Some of it is anybody's already. What is not yet, is told of once more when it is. */
  some(): void {
    if (this.#left.size > 0) this.#onLeft(this.#left.values());
  }

  #arm(delay_ms: Duration): void {
    if (this.#is_armed) return;
    this.#is_armed = true;
    this.#surroundings.schedule(delay_ms, () => {
      this.#is_armed = false;
      this.#release();
    });
  }

  #release(): void {
    const now = this.#surroundings.now();
    const over: Left[] = [];
    for (const [name, left] of this.#left) {
      if (left.until > now) {
        this.#arm(left.until - now);
        break;
      }
      this.#left.delete(name);
      over.push(left);
    }
    if (over.length > 0) this.#onLeft(over);
  }
}
