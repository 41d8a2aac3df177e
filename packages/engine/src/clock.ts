/**
 * The engine's time. It never goes back: it goes on after whatever the log has, even if the machine's clock was set back since.
 * On a shared store it is the store's clock, carried on by this node's own between two looks at it.
 */

import type { Time } from "@handfast/core";
import type { Sharing } from "./store.ts";
import type { Surroundings } from "./surroundings.ts";

export class Clock {
  readonly #surroundings: Surroundings;
  readonly #sharing: Sharing | undefined;
  #ahead_ms = 0;
  #last: Time = 0;

  constructor(surroundings: Surroundings, sharing: Sharing | undefined) {
    this.#surroundings = surroundings;
    this.#sharing = sharing;
  }

  now(): Time {
    this.#last = Math.max(this.#last, this.#surroundings.now() + this.#ahead_ms);
    return this.#last;
  }

  /** Something was committed at this time: it is later now. */
  goOnAfter(latest: Time): void {
    this.#ahead_ms = Math.max(0, latest + 1 - this.#surroundings.now());
  }

  /** By the clock that all nodes go by. */
  async set(): Promise<void> {
    if (this.#sharing === undefined) return;
    const before = this.#surroundings.now();
    const shared = await this.#sharing.now();
    this.#ahead_ms = Math.round(shared - (before + this.#surroundings.now()) / 2);
  }
}
