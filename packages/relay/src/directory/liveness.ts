/**
 * When an agent and its workers were last heard of, here or by another node, and which workers have left: whoever takes its claim
 * back, gives a lease back or closes its connection asks for nothing more, and is soon gone. In memory only: after a restart they
 * are simply heard of again.
 */

import type { Duration, Time } from "@handfast/core";

export interface Heard {
  readonly last_seen_at: Time | null;
  readonly workers: readonly { readonly worker: string; readonly last_seen_at: Time }[];
}

/** What a worker was heard with: it asks for work, it holds a lease, or a lease of its ended by it. */
export type Sign = "asks" | "holds" | "ends";

interface Worker {
  readonly at: Time;
  /** It left, and has not asked for work since. */
  readonly has_left: boolean;
  /** It holds a lease, as far as its last sign says. */
  readonly is_busy: boolean;
}

export interface LivenessLimits {
  readonly workers_per_agent: number;
  /** Heard of within so long it is live; within the shorter time, where it left with nothing in hand. */
  readonly live_ms: Duration;
  readonly left_ms: Duration;
}

const unheard: Heard = { last_seen_at: null, workers: [] };

export class Liveness {
  private readonly limits: LivenessLimits;
  private readonly heard = new Map<string, { at: Time; readonly workers: Map<string, Worker> }>();

  constructor(limits: LivenessLimits) {
    this.limits = limits;
  }

  seen(agent: string, worker: string | null, at: Time, sign: Sign = "holds"): void {
    const entry = this.heard.get(agent) ?? { at, workers: new Map<string, Worker>() };
    entry.at = Math.max(entry.at, at);
    this.heard.set(agent, entry);
    if (worker === null || (entry.workers.get(worker)?.at ?? 0) > at) return;
    const has_left = sign !== "asks" && entry.workers.get(worker)?.has_left === true;
    // Back to the end of the order, so that the one dropped is the one longest silent.
    entry.workers.delete(worker);
    const [oldest] = entry.workers.keys();
    if (entry.workers.size >= this.limits.workers_per_agent && oldest !== undefined) entry.workers.delete(oldest);
    entry.workers.set(worker, { at, has_left, is_busy: sign === "holds" });
  }

  left(agent: string, worker: string, at: Time): void {
    const workers = this.heard.get(agent)?.workers;
    if (workers?.has(worker) === true) workers.set(worker, { at, has_left: true, is_busy: false });
  }

  of(agent: string): Heard {
    const entry = this.heard.get(agent);
    if (entry === undefined) return unheard;
    const workers = Array.from(entry.workers, ([worker, { at }]) => ({ worker, last_seen_at: at }));
    return { last_seen_at: entry.at, workers };
  }

  lastSeen(agent: string): Time | null {
    return this.heard.get(agent)?.at ?? null;
  }

  /** How many of its workers live, those that ask at this moment among them. */
  live(agent: string, now: Time, isAsking: (worker: string) => boolean): number {
    const workers = this.heard.get(agent)?.workers;
    if (workers === undefined) return 0;
    const { live_ms, left_ms } = this.limits;
    let live = 0;
    for (const [worker, { at, has_left, is_busy }] of workers) {
      const heard_ms = has_left && !is_busy ? left_ms : live_ms;
      if (now - at <= heard_ms || isAsking(worker)) live += 1;
    }
    return live;
  }

  forget(agent: string): void {
    this.heard.delete(agent);
  }
}
