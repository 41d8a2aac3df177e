/** Brings ready handoffs and waiting claims together, inside the batch that is being made. */

import { choose, queueOf, type Ready } from "@handfast/core";
import type { Batch } from "./batch.ts";
import type { EngineLimits } from "./limits.ts";
import type { Store } from "./store.ts";
import { UnitBuilder } from "./unit.ts";
import type { WaitingClaim, Workers } from "./workers.ts";

/** More than the free slots are read, because a preference may hold some back. */
const spare_candidates = 16;

export class Dispatch {
  readonly #store: Store;
  readonly #workers: Workers;
  readonly #limits: EngineLimits;
  /** How often something became ready in a queue, and at which count an agent last found it empty. */
  readonly #arrivals = new Map<string, number>();
  readonly #foundEmpty = new Map<string, number>();

  constructor(store: Store, workers: Workers, limits: EngineLimits) {
    this.#store = store;
    this.#workers = workers;
    this.#limits = limits;
  }

  /** Something in this queue was left ready on disk. */
  arrived(namespace: string, queue: string): void {
    const key = `${namespace} ${queue}`;
    this.#arrivals.set(key, (this.#arrivals.get(key) ?? 0) + 1);
  }

  forget(): void {
    this.#foundEmpty.clear();
  }

  /** Leases what can be leased; returns the claims that got something. */
  async run(batch: Batch): Promise<ReadonlySet<WaitingClaim>> {
    const served = new Set<WaitingClaim>();
    for (const namespace of this.#workers.namespaces) {
      const here = batch.readyHere(namespace);
      const stored = await this.#stored(batch, namespace);
      if (here.length === 0 && stored.length === 0) continue;
      const live = this.#workers.live(namespace, batch.now);
      const assignments = choose([...here, ...stored], live, batch.now).slice(0, this.#limits.deliveries_per_batch);
      for (const { id, agent, worker } of assignments) {
        const claim = await this.#deliver(batch, namespace, id, agent, worker);
        if (claim !== undefined) served.add(claim);
      }
    }
    return served;
  }

  /** Ready handoffs on disk for the waiting claims, asked for only where something may have arrived. */
  async #stored(batch: Batch, namespace: string): Promise<readonly Ready[]> {
    const wanted = new Map<string, { readonly queues: Set<string>; slots: number }>();
    for (const { claim, given } of this.#workers.waiting) {
      if (claim.namespace !== namespace) continue;
      const want = wanted.get(claim.agent) ?? { queues: new Set(), slots: 0 };
      for (const queue of claim.queues) want.queues.add(queue);
      want.slots += claim.slots - given.length;
      wanted.set(claim.agent, want);
    }
    const found = new Map<string, Ready>();
    for (const [agent, { queues, slots }] of wanted) {
      const open = [...queues].filter((queue) => !this.#isEmpty(namespace, queue, agent));
      if (open.length === 0 || slots <= 0) continue;
      const limit = Math.min(slots, this.#limits.deliveries_per_batch) + spare_candidates;
      const candidates = await this.#store.candidates({ namespace, queues: open, agent, limit });
      if (candidates.length === 0) for (const queue of open) this.#markEmpty(namespace, queue, agent);
      for (const ready of candidates) if (!batch.changedHere(namespace, ready.id)) found.set(ready.id, ready);
    }
    return [...found.values()];
  }

  async #deliver(batch: Batch, namespace: string, id: string, agent: string, worker: string) {
    const handoff = await batch.see(namespace, id);
    if (handoff === null) return undefined;
    const waiting = this.#workers.claimFor(namespace, agent, worker, queueOf(handoff.accepted));
    if (waiting === undefined) return undefined;
    // Accepted in this batch and untouched since: its delivery joins the same unit.
    const born = batch.bornIn(handoff);
    const unit = born ?? new UnitBuilder();
    const offer = waiting.claim.offer(handoff);
    const body = offer.since > handoff.accepted.accepted_at ? await batch.body(namespace, id) : null;
    const error = body === null ? null : offer.check(body);
    const { manifest, attempt_ms, idempotent } = offer;
    const { request_id } = waiting.claim;
    const decision =
      error === null
        ? await batch.decide(unit, namespace, id, {
            type: "deliver",
            agent,
            worker,
            request_id,
            manifest,
            attempt_ms,
            idempotent,
          })
        : await batch.decide(unit, namespace, id, { type: "exclude", agent, error });
    if (decision.next !== null) {
      if (born === undefined) batch.add(unit);
      else batch.extended(decision.next);
    }
    if (decision.next === null || decision.refusal !== null || error !== null) return undefined;
    waiting.given.push({ handoff: decision.next, unit });
    return waiting;
  }

  #isEmpty(namespace: string, queue: string, agent: string): boolean {
    const arrivals = this.#arrivals.get(`${namespace} ${queue}`) ?? 0;
    return this.#foundEmpty.get(`${namespace} ${queue} ${agent}`) === arrivals;
  }

  #markEmpty(namespace: string, queue: string, agent: string): void {
    this.#foundEmpty.set(`${namespace} ${queue} ${agent}`, this.#arrivals.get(`${namespace} ${queue}`) ?? 0);
  }
}
