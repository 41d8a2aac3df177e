/**
 * Heartbeats: many leases, each beaten three times in its period, those due together in one frame. The same loop runs on
 * a thread of its own, so that a handler that blocks the event loop keeps its lease, or here, where there are no threads.
 */

import { HandoffError } from "../errors.ts";
import type { LeaseOver, Link } from "../link/link.ts";
import type { Surroundings } from "../surroundings.ts";
import { keyOf } from "./held.ts";
import { serveLimits as limits } from "./limits.ts";

/** What a heartbeat needs to know of a lease: plain data, which can be handed to a thread. */
export interface BeatenLease {
  readonly id: string;
  readonly fence: number;
  readonly worker: string;
  readonly lease_ms: number;
}

export interface Beats {
  hold(lease: BeatenLease): void;
  drop(lease: Pick<BeatenLease, "id" | "fence">): void;
  close(): void;
}

interface Beating {
  readonly lease: BeatenLease;
  due_at: number;
}

/** Codes after which a lease is never heard of again. */
const final: ReadonlySet<number> = new Set([403, 404, 408, 410, 412]);

export class BeatLoop implements Beats {
  readonly #link: Link;
  readonly #surroundings: Surroundings;
  readonly #onOver: (over: LeaseOver) => void;
  readonly #leases = new Map<string, Beating>();
  #wakes_at = Number.POSITIVE_INFINITY;
  #cancelTimer: () => void = () => {};

  constructor(link: Link, surroundings: Surroundings, onOver: (over: LeaseOver) => void) {
    this.#link = link;
    this.#surroundings = surroundings;
    this.#onOver = onOver;
  }

  hold(lease: BeatenLease): void {
    const due_at = this.#surroundings.now() + interval(lease);
    this.#leases.set(keyOf(lease), { lease, due_at });
    this.#wakeAt(due_at);
  }

  /** Its turn comes and finds nothing: most leases are over long before their first beat, and cost no timer. */
  drop(lease: Pick<BeatenLease, "id" | "fence">): void {
    this.#leases.delete(keyOf(lease));
    if (this.#leases.size === 0) this.#sleep();
  }

  close(): void {
    this.#leases.clear();
    this.#sleep();
  }

  #sleep(): void {
    this.#cancelTimer();
    this.#wakes_at = Number.POSITIVE_INFINITY;
  }

  #wakeAt(at: number): void {
    if (at >= this.#wakes_at) return;
    this.#cancelTimer();
    this.#wakes_at = at;
    this.#cancelTimer = this.#surroundings.after(Math.max(0, at - this.#surroundings.now()), () => this.#beatDue());
  }

  /** Those due soon go along: one frame for all. */
  #beatDue(): void {
    const now = this.#surroundings.now();
    this.#wakes_at = Number.POSITIVE_INFINITY;
    let next = Number.POSITIVE_INFINITY;
    for (const beating of this.#leases.values()) {
      if (beating.due_at <= now + interval(beating.lease) / 2) void this.#beat(beating);
      next = Math.min(next, beating.due_at);
    }
    if (this.#leases.size > 0) this.#wakeAt(next);
  }

  /** Whether or not the one before was answered: it may be lost on a connection that died in silence. */
  async #beat(beating: Beating): Promise<void> {
    const { lease } = beating;
    const { id, fence, worker, lease_ms } = lease;
    const beat_ms = interval(lease);
    beating.due_at = this.#surroundings.now() + beat_ms;
    const options = { patience_ms: lease_ms, answer_ms: beat_ms };
    try {
      await this.#link.call("heartbeat", { params: { id }, body: { fence, worker } }, options);
    } catch (error) {
      // Anything else than a last word, a relay that is away above all, is no reason to give up the work.
      if (error instanceof HandoffError && final.has(error.code)) this.#over(lease, error);
    }
  }

  #over(lease: BeatenLease, error: HandoffError): void {
    if (!this.#leases.delete(keyOf(lease))) return;
    const { id, fence } = lease;
    this.#onOver({ id, fence, code: error.code, reason: error.reason, detail: error.message });
  }
}

function interval({ lease_ms }: BeatenLease): number {
  return lease_ms / limits.beats;
}
