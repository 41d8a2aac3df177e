/** What other nodes of a shared store committed, passed on to whatever here goes by it: who holds what, what may be ready, when to wake. */

import { type Handoff, mayBeReady, queueOf } from "@handfast/core";
import type { Clock } from "./clock.ts";
import type { FollowRecords } from "./follow-records.ts";
import type { LiveLeases } from "./live-leases.ts";
import type { Life } from "./memory.ts";
import type { Look } from "./other-nodes.ts";
import type { Served } from "./served.ts";
import type { Store } from "./store.ts";
import type { Timers } from "./timers.ts";
import type { Workers } from "./workers.ts";

interface NewsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly workers: Workers;
  readonly leases: LiveLeases;
  readonly served: Served;
  readonly timers: Timers;
  readonly records: FollowRecords | null;
  /** Has a batch made, for those who wait. */
  readonly goOn: () => void;
}

export class News {
  readonly #options: NewsOptions;

  constructor(options: NewsOptions) {
    this.#options = options;
  }

  /** Of a handoff that nothing is remembered of: whether it has to be looked at because of these. */
  concerns(events: Life): boolean {
    return this.#options.served.isUsed && events.some(({ type }) => type === "delivered");
  }

  /** These were committed of one handoff; `next`: as it is now, where that was looked at. */
  told(events: Life, next: Handoff | null): void {
    const { leases, timers, served, workers } = this.#options;
    const [{ namespace, to_agent: to, capability }] = events;
    for (const event of events) {
      leases.tell(event);
      if (event.type === "requeued") timers.notice(event.ready_at);
    }
    const was_accepted = events.some(({ type }) => type === "accepted");
    const was_delivered = events.some(({ type }) => type === "delivered");
    if (next !== null && was_delivered) served.delivered(next);
    // Whoever delivered what had been waiting kept more of that queue to choose from, and has left it now.
    const may_be_left = was_delivered && !was_accepted;
    if (mayBeReady(events) || may_be_left) workers.groups.arrived(namespace, queueOf({ to, capability }));
  }

  /** After a look at what they wrote. */
  async looked({ is_whole, has_records }: Look): Promise<void> {
    const { store, clock, workers, timers, records, goOn } = this.#options;
    if (is_whole) await clock.set();
    if (has_records) await records?.look();
    // What another node kept for itself a moment ago it may have left.
    if (is_whole) workers.groups.forget();
    if (workers.areDue()) goOn();
    const next = is_whole ? await store.nextDue() : null;
    if (next !== null) timers.notice(next);
  }
}
