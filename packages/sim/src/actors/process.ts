/** A process of an actor: what it still waited for when it crashed never comes, as if it had never been written. */

import type { Duration } from "@handfast/core";
import type { Coverage } from "../coverage/coverage.ts";
import type { CallName } from "../coverage/rows.ts";
import type { Random } from "../random.ts";
import type { Reply } from "../world/network.ts";
import type { Timeline } from "../world/timeline.ts";

export class Process {
  alive = true;
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #coverage: Coverage;
  /** Calls that it waits for the answers of. */
  readonly #waiting = new Map<CallName, number>();

  constructor(timeline: Timeline, random: Random, coverage: Coverage) {
    this.#timeline = timeline;
    this.#random = random;
    this.#coverage = coverage;
  }

  crash(): void {
    if (!this.alive) return;
    this.alive = false;
    for (const [name, calls] of this.#waiting) if (calls > 0) this.#coverage.hit(name, "caller crash");
  }

  sleep(delay_ms: Duration): Promise<void> {
    return new Promise((resolve) => {
      this.#timeline.schedule(delay_ms, () => {
        if (this.alive) resolve();
      });
    });
  }

  async hear<T>(name: CallName, call: () => Promise<Reply<T>>): Promise<Reply<T>> {
    this.#waiting.set(name, (this.#waiting.get(name) ?? 0) + 1);
    const reply = await call();
    this.#waiting.set(name, (this.#waiting.get(name) ?? 1) - 1);
    return this.alive ? reply : new Promise(() => {});
  }

  /** Calls again until it is answered, at most so often; null: never answered. */
  async persist<T>(name: CallName, times: number, call: () => Promise<Reply<T>>): Promise<T | null> {
    for (let time = 0; time < times; time += 1) {
      const reply = await this.hear(name, call);
      if (reply.kind === "answer") return reply.value;
      await this.sleep(this.#random.between(50, 500) * Math.min(time + 1, 20));
    }
    return null;
  }
}
