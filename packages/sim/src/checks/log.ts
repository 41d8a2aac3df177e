/** The log as it must read, in order. */

import type { HandoffEvent, Time } from "@handfast/core";
import type { EventPage, Store } from "@handfast/engine";
import { namespace } from "../namespace.ts";
import { ensure } from "./violation.ts";

const events_per_page = 2_000;

export class Log {
  readonly #events: HandoffEvent[] = [];
  /** Positions of those that were read, to know where a page begins. */
  readonly #places = new Map<number, number>();
  #last_at: Time = 0;
  #dropped = 0;

  constructor() {
    this.#places.set(0, 0);
  }

  add(event: HandoffEvent): void {
    ensure(
      event.at >= this.#last_at,
      "the log's time never goes back",
      event.handoff,
      () => `${event.type} at ${event.at}`,
    );
    this.#last_at = event.at;
    this.#events.push(event);
  }

  /** Retention dropped so many of the oldest: by age, and nothing of what is still kept. */
  pruned(count: number, before: Time, isKept: (id: string) => boolean): void {
    for (const event of this.#events.slice(this.#dropped, this.#dropped + count)) {
      ensure(
        event.at < before && !isKept(event.handoff),
        "the log is dropped by age alone",
        event.handoff,
        () => `${event.type} of ${event.at} was dropped, older ones than ${before} may go`,
      );
    }
    this.#dropped += count;
  }

  /** A page that someone was shown: what comes next in the log, byte for byte, or what is left where that was dropped. */
  shown(after_pos: number, { events, floor }: EventPage): void {
    const from = this.#places.get(after_pos);
    if (from === undefined) return;
    let next = after_pos < floor ? Math.max(from, this.#dropped) : from;
    let pos = after_pos;
    for (const event of events) {
      ensure(event.pos > pos, "positions in the log increase", "log", () => `${event.pos} after ${pos}`);
      ensure(
        event.json === JSON.stringify(this.#events[next]),
        "the log only grows",
        "log",
        () => `entry ${next}: ${event.json}, not ${JSON.stringify(this.#events[next])}`,
      );
      next += 1;
      pos = event.pos;
    }
    this.#places.set(pos, next);
  }

  /** The whole log on disk is what was committed, less what retention dropped. */
  async compare(disk: Store): Promise<void> {
    let pos = 0;
    let read = this.#dropped;
    for (;;) {
      const page = await disk.events({ namespace, after_pos: pos, limit: events_per_page });
      const last = page.events.at(-1);
      if (last === undefined) break;
      this.shown(pos, page);
      pos = last.pos;
      read += page.events.length;
    }
    ensure(read === this.#events.length, "the log only grows", "log", () => `${read} of ${this.#events.length}`);
  }
}
