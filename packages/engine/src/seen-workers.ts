/** Workers heard of lately, whether or not they wait for work: who is worth waiting for. */

import type { FreeWorker, Time } from "@handfast/core";
import type { EngineLimits } from "./limits.ts";
import { Names } from "./names.ts";

interface Seen {
  readonly namespace: string;
  readonly worker: FreeWorker;
  readonly at: Time;
  /** Not waited for afterwards. */
  readonly until: Time;
  readonly left: boolean;
}

/** A worker heard of again so soon is not news. */
const heard_again_ms = 1_000;

export class SeenWorkers {
  readonly #limits: Pick<EngineLimits, "worker_silent_ms" | "worker_left_ms">;
  /** By worker, in order of time. */
  readonly #seen = new Map<string, Seen>();
  readonly #byAgent = new Names<Map<string, Seen>>();

  constructor(limits: Pick<EngineLimits, "worker_silent_ms" | "worker_left_ms">) {
    this.#limits = limits;
  }

  /** `queues` null: it did something else than ask for work. */
  hear(
    key: string,
    who: { readonly namespace: string; readonly agent: string; readonly worker: string },
    queues: ReadonlySet<string> | null,
    now: Time,
  ): void {
    const known = this.#seen.get(key);
    if (queues === null && (known === undefined || now - known.at < heard_again_ms)) return;
    const { namespace, agent, worker } = who;
    const served = queues ?? known?.worker.queues ?? new Set<string>();
    const until = now + this.#limits.worker_silent_ms;
    this.#seen.delete(key);
    const free = { agent, worker, queues: served, slots: 0, since: now };
    this.#keep(key, { namespace, worker: free, at: now, until, left: false });
    this.#dropSilent(now);
  }

  /** It went away; whatever is heard of it again takes this back. */
  leave(key: string, now: Time): void {
    const known = this.#seen.get(key);
    if (known === undefined) return;
    const { worker_silent_ms, worker_left_ms } = this.#limits;
    // As if it had been silent since, so that its next sign of life is news.
    const at = now - worker_silent_ms;
    this.#keep(key, { ...known, at, until: Math.min(known.until, now + worker_left_ms), left: true });
  }

  hasLeft(key: string): boolean {
    return this.#seen.get(key)?.left === true;
  }

  /** Those of an agent, by key. */
  of(namespace: string, agent: string, now: Time): Iterable<readonly [string, FreeWorker]> {
    const own = this.#byAgent.get(namespace, agent);
    if (own === undefined) return [];
    return Array.from(own).flatMap(([key, { worker, until }]) => (now > until ? [] : [[key, worker] as const]));
  }

  #keep(key: string, seen: Seen): void {
    this.#seen.set(key, seen);
    const { namespace, worker } = seen;
    const own = this.#byAgent.get(namespace, worker.agent);
    if (own === undefined) this.#byAgent.set(namespace, worker.agent, new Map([[key, seen]]));
    else own.set(key, seen);
  }

  /** In order of time, but for those that left: they go with the others of their time. */
  #dropSilent(now: Time): void {
    for (const [key, { until, namespace, worker }] of this.#seen) {
      if (now <= until) return;
      this.#seen.delete(key);
      const own = this.#byAgent.get(namespace, worker.agent);
      own?.delete(key);
      if (own?.size === 0) this.#byAgent.delete(namespace, worker.agent);
    }
  }
}
