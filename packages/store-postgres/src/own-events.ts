/**
 * What this node wrote at the end of the log, by position: whoever follows the log here need not read it back. Of one commit the positions
 * are without a gap, and whatever stands before them was committed before.
 */

import type { FollowedEvent } from "@handfast/engine";
import { own_events } from "./limits.ts";

interface Stretch {
  readonly first: number;
  readonly last: number;
}

interface Written extends Stretch {
  readonly events: readonly FollowedEvent[];
}

export class OwnEvents {
  /** In the log's order. */
  #written: readonly Written[] = [];
  #size = 0;

  wrote(events: readonly FollowedEvent[]): void {
    const [first, last] = [events[0], events.at(-1)];
    if (first === undefined || last === undefined) return;
    this.#size += events.length;
    this.#written = [...this.#written, { first: first.pos, last: last.pos, events }];
    let surplus = 0;
    for (let over = this.#size - own_events; over > 0; surplus += 1)
      over -= this.#written[surplus]?.events.length ?? over;
    this.#drop(surplus);
  }

  /** What stands after a position, and which stretches of the log others wrote there. What stands before it is not asked for again. */
  after(pos: number): { readonly events: readonly FollowedEvent[]; readonly others: readonly Stretch[] } {
    const kept = this.#written.findIndex(({ last }) => last > pos);
    this.#drop(kept < 0 ? this.#written.length : kept);
    const events: FollowedEvent[] = [];
    const others: Stretch[] = [];
    let next = pos + 1;
    for (const written of this.#written) {
      if (written.first > next) others.push({ first: next, last: written.first - 1 });
      for (const event of written.events) if (event.pos > pos) events.push(event);
      next = written.last + 1;
    }
    return { events, others: [...others, { first: next, last: Number.MAX_SAFE_INTEGER }] };
  }

  forget(): void {
    this.#written = [];
    this.#size = 0;
  }

  /** So many of the oldest. */
  #drop(count: number): void {
    if (count === 0) return;
    for (const { events } of this.#written.slice(0, count)) this.#size -= events.length;
    this.#written = this.#written.slice(count);
  }
}
