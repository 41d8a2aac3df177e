/** Workers that ask for work, and those heard of lately: who is free, and who is worth waiting for. */

import type { FreeWorker, Handoff, Time } from "@handfast/core";
import type { EngineLimits } from "./limits.ts";
import type { Claim } from "./requests.ts";
import type { UnitBuilder } from "./unit.ts";

/** A claim that waits. */
export interface WaitingClaim {
  readonly claim: Claim;
  readonly since: Time;
  /** Leased in the batch under way; handed over when it is committed. */
  given: { readonly handoff: Handoff; readonly unit: UnitBuilder }[];
  /** Its time was over while a batch was giving it something. */
  overdue: boolean;
  finish(leases: readonly Handoff[]): void;
  fail(error: unknown): void;
}

export class Workers {
  readonly #limits: EngineLimits;
  readonly #waiting = new Set<WaitingClaim>();
  readonly #seen = new Map<string, { readonly namespace: string; readonly worker: FreeWorker; at: Time }>();
  /** What each claim was answered with: repeated, it gets the same leases. */
  readonly #answered = new Map<string, readonly string[]>();
  /** Workers whose leases from before the relay's start are known. */
  readonly #recalled = new Set<string>();

  constructor(limits: EngineLimits) {
    this.#limits = limits;
  }

  get waiting(): ReadonlySet<WaitingClaim> {
    return this.#waiting;
  }

  get namespaces(): ReadonlySet<string> {
    return new Set([...this.#waiting].map(({ claim }) => claim.namespace));
  }

  add(waiting: WaitingClaim): void {
    this.#waiting.add(waiting);
  }

  remove(waiting: WaitingClaim): void {
    this.#waiting.delete(waiting);
  }

  /** The same request asked again while its first asking still waits: the newer one takes its place. */
  sameRequest(claim: Claim): WaitingClaim | undefined {
    const key = requestKey(claim);
    return [...this.#waiting].find((other) => requestKey(other.claim) === key);
  }

  seen(claim: Pick<Claim, "namespace" | "agent" | "worker">, queues: ReadonlySet<string> | null, now: Time): void {
    const key = workerKey(claim);
    const known = this.#seen.get(key);
    if (queues === null && known === undefined) return;
    const worker = {
      agent: claim.agent,
      worker: claim.worker,
      queues: queues ?? known?.worker.queues ?? new Set<string>(),
      slots: 0,
      since: now,
    };
    this.#seen.delete(key);
    this.#seen.set(key, { namespace: claim.namespace, worker, at: now });
  }

  /** Those with free slots, and those that live but are busy. */
  live(namespace: string, now: Time): readonly FreeWorker[] {
    const free: FreeWorker[] = [];
    const asking = new Set<string>();
    for (const { claim, since, given } of this.#waiting) {
      if (claim.namespace !== namespace) continue;
      asking.add(workerKey(claim));
      const { agent, worker, queues } = claim;
      free.push({ agent, worker, queues, slots: claim.slots - given.length, since });
    }
    for (const [key, { namespace: theirs, worker, at }] of this.#seen) {
      if (now - at > this.#limits.worker_silent_ms) this.#seen.delete(key);
      else if (theirs === namespace && !asking.has(key)) free.push(worker);
    }
    return free;
  }

  /** A waiting claim of this worker that serves the queue and has a slot left. */
  claimFor(namespace: string, agent: string, worker: string, queue: string): WaitingClaim | undefined {
    for (const waiting of this.#waiting) {
      const { claim, given } = waiting;
      if (claim.namespace !== namespace || claim.agent !== agent || claim.worker !== worker) continue;
      if (claim.queues.has(queue) && given.length < claim.slots) return waiting;
    }
    return undefined;
  }

  answeredWith(claim: Claim): readonly string[] | undefined {
    return this.#answered.get(requestKey(claim));
  }

  rememberAnswer(request: Pick<Claim, "namespace" | "agent" | "worker" | "request_id">, ids: readonly string[]): void {
    const key = requestKey(request);
    this.#answered.delete(key);
    this.#answered.set(key, ids);
    if (this.#answered.size > this.#limits.remembered_requests) {
      const oldest = this.#answered.keys().next();
      if (!oldest.done) this.#answered.delete(oldest.value);
    }
  }

  /** True once per worker since the start: then its leases must be looked up on disk. */
  mustRecall(claim: Claim): boolean {
    const key = workerKey(claim);
    if (this.#recalled.has(key)) return false;
    this.#recalled.add(key);
    return true;
  }

  /** After a failed commit: what was remembered may not be true. Claims go on waiting. */
  forget(): void {
    this.#answered.clear();
    this.#recalled.clear();
  }
}

function workerKey({ namespace, agent, worker }: Pick<Claim, "namespace" | "agent" | "worker">): string {
  return JSON.stringify([namespace, agent, worker]);
}

function requestKey({
  namespace,
  agent,
  worker,
  request_id,
}: Pick<Claim, "namespace" | "agent" | "worker" | "request_id">): string {
  return JSON.stringify([namespace, agent, worker, request_id]);
}
