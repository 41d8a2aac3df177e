/** What other nodes of a shared store committed, passed on to whatever here goes by it: who holds what, what may be ready, when to wake. */

import { type Duration, type Handoff, isEnd, mayBeReady, queueOf } from "@handfast/core";
import type { Clock } from "./clock.ts";
import type { FollowRecords } from "./follow-records.ts";
import type { LiveLeases } from "./live-leases.ts";
import type { Life } from "./memory.ts";
import type { Look } from "./other-nodes.ts";
import type { Served } from "./served.ts";
import type { Store } from "./store.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Timers } from "./timers.ts";
import { Untaken } from "./untaken.ts";
import type { Workers } from "./workers.ts";

interface NewsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly workers: Workers;
  readonly leases: LiveLeases;
  readonly served: Served;
  readonly timers: Timers;
  readonly records: FollowRecords | null;
  readonly surroundings: Surroundings;
  /** For so long what other nodes left ready is left to their own workers. */
  readonly stays_ms: Duration;
  /** Has a batch made, for those who wait. */
  readonly goOn: () => void;
}

export class News {
  readonly #options: NewsOptions;
  readonly #untaken: Untaken;

  constructor(options: NewsOptions) {
    this.#options = options;
    const { workers, surroundings, stays_ms, goOn } = options;
    this.#untaken = new Untaken(surroundings, stays_ms, (queues) => {
      for (const { namespace, queue } of queues) workers.groups.arrived(namespace, queue);
      if (workers.areDue()) goOn();
    });
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
    const queue = queueOf({ to, capability });
    // Whoever delivered what had been waiting kept more of that queue to choose from, and has left it now.
    if (was_delivered && !was_accepted) workers.groups.arrived(namespace, queue);
    const { handoff } = events[0];
    if (mayBeReady(events)) this.#untaken.put(namespace, handoff, queue);
    else if (events.some(({ type }) => type === "delivered" || isEnd(type))) this.#untaken.taken(namespace, handoff);
  }

  /** After a look at what they wrote. */
  async looked({ is_whole, has_records, has_left }: Look): Promise<void> {
    const { store, clock, workers, timers, records, goOn } = this.#options;
    if (has_left) this.#untaken.some();
    if (is_whole) await clock.set();
    if (has_records) await records?.look();
    // What another node kept for itself a moment ago it may have left.
    if (is_whole) workers.groups.forget();
    if (workers.areDue()) goOn();
    const next = is_whole ? await store.nextDue() : null;
    if (next !== null) timers.notice(next);
  }
}
