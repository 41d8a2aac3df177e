/** A process of an actor: what it still waited for when it crashed never comes, as if it had never been written. */

import type { Duration } from "@handfast/core";
import type { Reply } from "./network.ts";
import type { Random } from "./random.ts";
import type { Timeline } from "./timeline.ts";

export class Process {
  alive = true;
  readonly #timeline: Timeline;
  readonly #random: Random;

  constructor(timeline: Timeline, random: Random) {
    this.#timeline = timeline;
    this.#random = random;
  }

  crash(): void {
    this.alive = false;
  }

  sleep(delay_ms: Duration): Promise<void> {
    return this.own(this.#timeline.sleep(delay_ms));
  }

  async own<T>(promise: Promise<T>): Promise<T> {
    const value = await promise;
    return this.alive ? value : new Promise(() => {});
  }

  /** Calls again until it is answered, at most so often; null: never answered. */
  async persist<T>(times: number, call: () => Promise<Reply<T>>): Promise<T | null> {
    for (let time = 0; time < times; time += 1) {
      const reply = await this.own(call());
      if (reply.kind === "answer") return reply.value;
      await this.sleep(this.#random.between(50, 500) * (time + 1));
    }
    return null;
  }
}
