/**
 * What could be delivered now, by queue and rank. No worker may wait while there is something for it, and of several
 * handoffs the best-ranked goes first.
 */

import { type CoreLimits, type Handoff, heldUntil, queueOf, type Time } from "@handfast/core";
import type { Write } from "@handfast/engine";
import type { Standings } from "../world/standings.ts";
import type { History } from "./history.ts";
import { ensure } from "./violation.ts";

interface Ready {
  readonly history: History;
  readonly rank: number;
  readonly ready_at: Time;
  /** The commit that let the relay find it; null: it waits for its backoff. */
  readonly commit: number | null;
  /** Held back, for a moment, for a worker or from one. */
  readonly held_until: Time;
}

interface Delivery {
  readonly history: History;
  readonly agent: string;
  readonly at: Time;
}

export class ReadyWork {
  readonly #limits: CoreLimits;
  readonly #queuesOf: (agent: string) => ReadonlySet<string>;
  readonly #standings: Standings | null;
  readonly #queues = new Map<string, Map<string, Ready>>();
  #commit = 0;
  #deliveries: Delivery[] = [];
  /** Offered, in the commit under way, to an agent that they no longer fit: meanwhile others were given away. */
  readonly #passedOver = new Set<string>();

  constructor(limits: CoreLimits, queuesOf: (agent: string) => ReadonlySet<string>, standings: Standings | null) {
    this.#limits = limits;
    this.#queuesOf = queuesOf;
    this.#standings = standings;
  }

  /** A write was committed; `history` tells it already. */
  written(history: History, { next, find, events }: Write): void {
    const { accepted } = history;
    const queue = queueOf(accepted);
    for (const event of events) {
      if (event.type === "delivered") this.#deliveries.push({ history, agent: event.agent, at: event.at });
      if (event.type === "excluded") this.#passedOver.add(accepted.id);
    }
    const waits = history.state === "queued" && !history.blocked;
    const now = events.at(-1)?.at;
    const isFindable = find.queue !== null;
    ensure(
      isFindable ? waits && find.queue === queue : !waits || now === undefined || history.ready_at > now,
      "what is ready can be found",
      accepted.id,
      () => `found in ${find.queue} while ${history.state}, ready at ${history.ready_at}`,
    );
    if (!waits) return void this.#queues.get(queue)?.delete(accepted.id);
    const rank = this.#rankOf(history);
    ensure(find.rank === rank, "rank is accept time less a bonus", accepted.id, () => `${find.rank}, not ${rank}`);
    this.#wait(queue, history, rank, isFindable, this.#heldUntil(history, next));
  }

  #wait(queue: string, history: History, rank: number, isFindable: boolean, held_until: Time): void {
    let queued = this.#queues.get(queue);
    if (queued === undefined) {
      queued = new Map();
      this.#queues.set(queue, queued);
    }
    const { ready_at, accepted } = history;
    const known = queued.get(accepted.id);
    const same = known?.ready_at === ready_at ? known : undefined;
    const commit = isFindable ? (same?.commit ?? this.#commit) : null;
    queued.set(accepted.id, { history, rank, ready_at, commit, held_until });
  }

  /** The whole commit is on disk: whoever was given something was given the best of what had been there. */
  committed(): void {
    const deliveries = this.#deliveries;
    this.#deliveries = [];
    for (const delivery of deliveries) {
      const better = this.#better(delivery);
      const { history, agent } = delivery;
      ensure(
        better === null,
        "the best rank goes first",
        better?.history.accepted.id ?? "",
        () => `${agent} was given ${history.accepted.id} of rank ${this.#rankOf(history)}, not ${better?.rank}`,
      );
    }
    this.#passedOver.clear();
    this.#commit += 1;
  }

  #better({ history, agent, at }: Delivery): Ready | null {
    const rank = this.#rankOf(history);
    for (const queue of this.#queuesOf(agent)) {
      for (const ready of this.#queues.get(queue)?.values() ?? []) {
        if (ready.rank >= rank || ready.commit === null || ready.commit >= this.#commit) continue;
        if (ready.held_until > at || this.#passedOver.has(ready.history.accepted.id)) continue;
        if (!ready.history.excluded.has(agent) && this.#mustGo(ready.history, agent, at, at)) return ready;
      }
    }
    return null;
  }

  /** Something that was there for this agent since then. */
  overlooked(agent: string, queues: ReadonlySet<string>, since: Time, now: Time): History | null {
    for (const queue of queues) {
      for (const { history, ready_at, held_until } of this.#queues.get(queue)?.values() ?? []) {
        const isHeld = ready_at > since || held_until > since || history.excluded.has(agent);
        if (!isHeld && this.#mustGo(history, agent, since, now)) return history;
      }
    }
    return null;
  }

  /** Whether nothing that routing knows could keep it from this agent. What is put under a range waits for those in it. */
  #mustGo({ accepted }: History, agent: string, from: Time, until: Time): boolean {
    const standings = this.#standings;
    if (standings === null || accepted.capability === null) return true;
    if (accepted.canary !== undefined || !standings.isAble(agent, until, accepted)) return false;
    return standings.isSteady(agent, from, until);
  }

  /** For a worker or from one, or for the agent that served its lane or conversation. */
  #heldUntil({ accepted, ready_at }: History, { avoid, prefer }: Handoff): Time {
    const isTied = accepted.to === null && (accepted.ordering_key !== null || accepted.conversation_id !== null);
    const waiting = { ready_at, deadline_at: accepted.deadline_at, queue_until: ready_at + accepted.terms.queue_ms };
    const tied_until = isTied && this.#standings !== null ? heldUntil(waiting, this.#limits.sticky_ms) : 0;
    return Math.max(avoid?.until ?? 0, prefer?.until ?? 0, tied_until);
  }

  #rankOf({ accepted }: History): number {
    return accepted.accepted_at - accepted.priority * this.#limits.priority_bonus_ms;
  }
}
