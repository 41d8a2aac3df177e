/** Order per key, as it must be: for each lane its handoffs in the order they were accepted. */

import { type Accepted, laneOf } from "@handfast/core";
import type { History } from "./history.ts";

interface Lane {
  readonly members: History[];
  /** Those before it have all ended. */
  first: number;
}

export class Lanes {
  readonly #lanes = new Map<string, Lane>();

  get names(): Iterable<string> {
    return this.#lanes.keys();
  }

  /** Whether an open one stands before whatever is accepted now. */
  isBusy(accepted: Accepted): boolean {
    const lane = laneOf(accepted);
    return lane !== null && this.#open(lane).some((member) => !member.hasEnded);
  }

  join(history: History): void {
    const name = laneOf(history.accepted);
    if (name === null) return;
    const lane = this.#lanes.get(name);
    if (lane === undefined) this.#lanes.set(name, { members: [history], first: 0 });
    else lane.members.push(history);
  }

  /** How many of its lane were accepted before it and are open. */
  ahead(history: History): number {
    const lane = laneOf(history.accepted);
    if (lane === null) return 0;
    let ahead = 0;
    for (const member of this.#open(lane)) {
      if (member === history) break;
      if (!member.hasEnded) ahead += 1;
    }
    return ahead;
  }

  #open(name: string): readonly History[] {
    const lane = this.#lanes.get(name);
    if (lane === undefined) return [];
    while (lane.members[lane.first]?.hasEnded === true) lane.first += 1;
    return lane.first === 0 ? lane.members : lane.members.slice(lane.first);
  }
}
