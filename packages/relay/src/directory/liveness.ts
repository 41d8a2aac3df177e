/** When an agent and its workers were last heard of, here or by another node. In memory only: after a restart they are simply heard of again. */

import type { Time } from "@handfast/core";

export interface Heard {
  readonly last_seen_at: Time | null;
  readonly workers: readonly { readonly worker: string; readonly last_seen_at: Time }[];
}

const unheard: Heard = { last_seen_at: null, workers: [] };

export class Liveness {
  private readonly max_workers: number;
  private readonly heard = new Map<string, { at: Time; readonly workers: Map<string, Time> }>();

  constructor(max_workers: number) {
    this.max_workers = max_workers;
  }

  seen(agent: string, worker: string | null, at: Time): void {
    const entry = this.heard.get(agent) ?? { at, workers: new Map<string, Time>() };
    entry.at = Math.max(entry.at, at);
    this.heard.set(agent, entry);
    if (worker === null || (entry.workers.get(worker) ?? 0) > at) return;
    // Back to the end of the order, so that the one dropped is the one longest silent.
    entry.workers.delete(worker);
    const [oldest] = entry.workers.keys();
    if (entry.workers.size >= this.max_workers && oldest !== undefined) entry.workers.delete(oldest);
    entry.workers.set(worker, at);
  }

  of(agent: string): Heard {
    const entry = this.heard.get(agent);
    if (entry === undefined) return unheard;
    const workers = Array.from(entry.workers, ([worker, last_seen_at]) => ({ worker, last_seen_at }));
    return { last_seen_at: entry.at, workers };
  }

  forget(agent: string): void {
    this.heard.delete(agent);
  }
}
