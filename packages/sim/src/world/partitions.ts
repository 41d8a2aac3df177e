/** Who cannot reach the relay at the moment, or cannot be reached by it: one actor, some, or all; one way or both. */

import type { Duration, Time } from "@handfast/core";
import type { Random } from "../random.ts";
import type { Tally } from "../run/tally.ts";
import type { Timeline } from "./timeline.ts";

export type Cut = "cut off" | "cut off inwards" | "cut off outwards";

const cuts: readonly Cut[] = ["cut off", "cut off", "cut off inwards", "cut off outwards"];

interface Partition {
  readonly cut: Cut;
  readonly until: Time;
}

export class Partitions {
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #tally: Tally;
  readonly #cut = new Map<string, Partition>();

  constructor(timeline: Timeline, random: Random, tally: Tally) {
    this.#timeline = timeline;
    this.#random = random;
    this.#tally = tally;
  }

  /** Cuts off one of these actors, half of them, or all. */
  split(actors: readonly string[]): void {
    const random = this.#random;
    const share = random.pick([0, 0, 0.5, 1]);
    const cut = random.pick(cuts);
    const duration_ms: Duration = random.skewed(500, 90_000);
    const partition = { cut, until: this.#timeline.now + duration_ms };
    const chosen = share === 0 ? [random.pick(actors)] : actors.filter(() => random.chance(share));
    for (const actor of chosen) this.#cut.set(actor, partition);
    this.#tally.add("faults", "partition");
    this.#tally.add("partitions", cut);
  }

  heal(): void {
    this.#cut.clear();
  }

  /** What keeps this actor's messages from the relay (`inwards`) or the relay's from it, if anything does. */
  between(actor: string, way: "inwards" | "outwards"): Cut | null {
    const partition = this.#cut.get(actor);
    if (partition === undefined) return null;
    if (partition.until <= this.#timeline.now) {
      this.#cut.delete(actor);
      return null;
    }
    return partition.cut === "cut off" || partition.cut === `cut off ${way}` ? partition.cut : null;
  }
}
