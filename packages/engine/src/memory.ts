/** What the engine remembers of committed handoffs, and whom it wakes about them. Changes only after a commit. */

import { type Findable, type Handoff, type HandoffEvent, hasEnded, isEnd, type Time } from "@handfast/core";
import { BodyCache } from "./body-cache.ts";
import { HandoffCache } from "./cache.ts";
import type { EngineLimits } from "./limits.ts";
import { Names } from "./names.ts";
import type { Pending, UnitBuilder } from "./unit.ts";
import { type Wakeups, wakeKey } from "./wakeups.ts";

interface Listeners {
  /** Something was left ready on disk in this queue. */
  readonly onReady: (namespace: string, queue: string) => void;
  /** A change of state was committed, and whether it was a delivery. */
  readonly onChange: (handoff: Handoff, isDelivery: boolean) => void;
  /** Time will change something then. */
  readonly onWake: (at: Time) => void;
  /** Another node committed these of one handoff; with what it is now, where that was looked at. */
  readonly onTold: (events: Life, next: Handoff | null) => void;
}

/** What was told of one handoff, in order. */
export type Life = readonly [HandoffEvent, ...HandoffEvent[]];

/** A handoff as a commit left it, and what the commit told of it. */
interface Change {
  readonly next: Handoff;
  readonly events: readonly HandoffEvent[];
  readonly find: Findable;
}

export class Memory {
  readonly cache: HandoffCache;
  readonly bodies: BodyCache;
  /** How many handoffs are open. */
  open = 0;
  readonly #openBySender = new Names<number>();
  readonly #wakeups: Wakeups;
  readonly #listeners: Listeners;

  constructor(limits: EngineLimits, wakeups: Wakeups, listeners: Listeners) {
    this.cache = new HandoffCache(limits.cached_handoffs);
    this.bodies = new BodyCache(limits.cached_body_bytes);
    this.#wakeups = wakeups;
    this.#listeners = listeners;
  }

  /** What the store says is open; from here on every commit is counted. */
  countOpen(senders: readonly { readonly namespace: string; readonly from: string; readonly open: number }[]): void {
    this.open = 0;
    this.#openBySender.clear();
    for (const { namespace, from, open } of senders) this.#count(namespace, from, open);
  }

  openOf(namespace: string, from: string): number {
    return this.#openBySender.get(namespace, from) ?? 0;
  }

  #count(namespace: string, from: string, delta: number): void {
    this.open += delta;
    const open = this.openOf(namespace, from) + delta;
    if (open > 0) this.#openBySender.set(namespace, from, open);
    else this.#openBySender.delete(namespace, from);
  }

  forget(): void {
    this.cache.clear();
    this.bodies.clear();
  }

  remember(units: readonly UnitBuilder[]): void {
    const wake = new Set<string>();
    for (const { result, pending } of units) {
      for (const one of pending) {
        const { namespace, id } = one.next.accepted;
        if (result === "conflict") this.cache.delete(namespace, id);
        else this.#rememberOne(one, wake);
      }
    }
    this.#wakeups.publish(wake);
  }

  #rememberOne(pending: Pending, wake: Set<string>): void {
    const { next, bodies, purge, expected_version, find } = pending;
    const { namespace, id, from } = next.accepted;
    if (this.#wakeups.hears("handoff")) wake.add(wakeKey.handoff(namespace, id));
    if (purge) {
      this.cache.delete(namespace, id);
      this.bodies.delete(namespace, id);
      wake.add(wakeKey.log(namespace));
      return;
    }
    if (expected_version === 0) this.#count(namespace, from, 1);
    if (isTaken(next)) {
      this.cache.delete(namespace, id);
      this.bodies.delete(namespace, id);
    } else {
      this.cache.set(next);
      for (const body of bodies) this.bodies.add(namespace, id, body);
    }
    if (find !== null) this.#changed({ next, events: pending.events, find }, wake);
  }

  /** Whether something is remembered of it that has to be put right. */
  knows(namespace: string, id: string): boolean {
    return this.cache.get(namespace, id) !== undefined;
  }

  /** Other nodes committed these. `next`: as it is now, for one that is known here; null: it was not looked at. */
  learn(told: readonly { readonly events: Life; readonly next: Handoff | null }[]): void {
    const wake = new Set<string>();
    for (const { events, next } of told) {
      const [{ namespace, handoff: id, from }] = events;
      if (next !== null && this.knows(namespace, id)) this.cache.set(next);
      if (this.#wakeups.hears("handoff")) wake.add(wakeKey.handoff(namespace, id));
      if (events.some(({ type }) => type === "accepted")) this.#count(namespace, from, 1);
      this.#listeners.onTold(events, next);
      this.#tell(events, wake);
    }
    this.#wakeups.publish(wake);
  }

  #changed({ next, events, find }: Change, wake: Set<string>): void {
    const { namespace } = next.accepted;
    if (find.queue !== null) this.#listeners.onReady(namespace, find.queue);
    if (find.wake_at !== null) this.#listeners.onWake(find.wake_at);
    this.#listeners.onChange(
      next,
      events.some(({ type }) => type === "delivered"),
    );
    this.#tell(events, wake);
  }

  #tell(events: readonly HandoffEvent[], wake: Set<string>): void {
    const [first] = events;
    if (first === undefined) return;
    const { namespace, correlation_id, from } = first;
    if (this.#wakeups.hears("correlation")) wake.add(wakeKey.correlation(namespace, correlation_id));
    if (this.#wakeups.hears("log")) wake.add(wakeKey.log(namespace));
    const ended = events.some(({ type }) => isEnd(type));
    if (ended) this.#count(namespace, from, -1);
    if (ended || events.some(({ type }) => type === "late")) wake.add(wakeKey.sender(namespace, from));
    if (events.some(({ type }) => type === "asked")) {
      wake.add(wakeKey.asked(namespace, from));
      wake.add(wakeKey.desk(namespace));
    }
  }
}

/** Its sender has the outcome: nobody will ask for it soon. */
function isTaken({ status }: Handoff): boolean {
  return hasEnded(status) && status.taken_at !== null;
}
