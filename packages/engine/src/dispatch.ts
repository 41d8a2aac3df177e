/** Brings ready handoffs and waiting claims together, inside the batch that is being made. */

import { choose, queueOf, type Ready } from "@handfast/core";
import type { Batch } from "./batch.ts";
import type { ClaimGroup } from "./claim-groups.ts";
import type { EngineLimits } from "./limits.ts";
import { planned } from "./reading.ts";
import type { Store } from "./store.ts";
import { UnitBuilder } from "./unit.ts";
import type { WaitingClaim, Workers } from "./workers.ts";

/** More than the free slots are read, because a preference may hold some back. */
const spare_candidates = 16;
const most_spare_candidates = 8_192;

interface Delivery {
  readonly changed: boolean;
  readonly claim?: WaitingClaim;
}

export class Dispatch {
  readonly #store: Store;
  readonly #workers: Workers;
  readonly #limits: EngineLimits;
  constructor(store: Store, workers: Workers, limits: EngineLimits) {
    this.#store = store;
    this.#workers = workers;
    this.#limits = limits;
  }

  /**
   * Leases what can be leased; returns the claims that got something, and whether more could be leased than one batch
   * may. Whatever is left waiting afterwards has nothing ready that it could be given, as far as the candidates looked
   * at reach.
   */
  async run(batch: Batch): Promise<{ readonly served: ReadonlySet<WaitingClaim>; readonly more: boolean }> {
    const served = new Set<WaitingClaim>();
    let left = this.#limits.deliveries_per_batch;
    for (const namespace of this.#workers.namespaces) {
      for (let spare = spare_candidates; left > 0 && this.#workers.hasFreeSlot(namespace); ) {
        const here = batch.readyHere(namespace);
        const { stored, isCut } = await this.#stored(batch, namespace, spare);
        if (here.length === 0 && stored.length === 0 && !isCut) break;
        const ready = [...here, ...stored];
        const live = this.#workers.live(namespace, ready, batch.now);
        const chosen = choose(ready, live, batch.now).slice(0, left);
        await batch.prefetch(chosen.map(({ id }) => ({ namespace, id })));
        let changes = 0;
        for (const { id, agent, worker } of chosen) {
          const { changed, claim } = await planned(() => this.#deliver(batch, namespace, id, agent, worker));
          if (claim !== undefined) served.add(claim);
          if (changed) changes += 1;
        }
        left -= changes;
        if (changes > 0) continue;
        // Nothing of what was read may be given now: look further, or there is nothing more.
        if (!isCut || spare >= most_spare_candidates) break;
        spare *= 8;
      }
    }
    return { served, more: left <= 0 };
  }

  /**
   * Ready handoffs on disk for claims with free slots, asked for only where something may have arrived. Each queue by itself, so
   * that much work in one does not hide the work in another; and once for all who serve it, where there is enough for all.
   */
  async #stored(batch: Batch, namespace: string, spare: number): Promise<{ stored: readonly Ready[]; isCut: boolean }> {
    const found = new Map<string, Ready>();
    const plenty = new Map<string, readonly Ready[]>();
    const most = this.#limits.deliveries_per_batch;
    const free = freeGroups(this.#workers.groups.due(namespace), most);
    const wanted = slotsByQueue(free, most);
    for (const { group, slots } of free) {
      for (const queue of group.due) {
        if (isEnough(plenty.get(queue), group.agent, slots)) continue;
        const limit = (wanted.get(queue) ?? slots) + spare;
        const { agent } = group;
        const candidates = await this.#store.candidates({ namespace, queues: [queue], agent, limit });
        if (candidates.length === 0) group.due.delete(queue);
        if (candidates.length >= limit) plenty.set(queue, candidates);
        for (const ready of candidates) if (!batch.changedHere(namespace, ready.id)) found.set(ready.id, ready);
      }
    }
    return { stored: [...found.values()], isCut: plenty.size > 0 };
  }

  /** Delivers, or excludes the agent whose manifest the input no longer fits. */
  #deliver(batch: Batch, namespace: string, id: string, agent: string, worker: string): Delivery {
    const handoff = batch.see(namespace, id);
    const queue = handoff === null ? "" : queueOf(handoff.accepted);
    const waiting = this.#workers.claimFor(namespace, agent, worker, queue);
    if (handoff === null || waiting === undefined) return { changed: false };
    const offer = waiting.claim.offer(handoff);
    const body = offer.since > handoff.accepted.accepted_at ? batch.body(namespace, id) : null;
    const error = body === null ? null : offer.check(body);
    const { manifest, attempt_ms, idempotent } = offer;
    const { request_id } = waiting.claim;
    const command =
      error === null
        ? ({ type: "deliver", agent, worker, request_id, manifest, attempt_ms, idempotent } as const)
        : ({ type: "exclude", agent, error } as const);
    const unit = new UnitBuilder();
    const decision = batch.decide(unit, namespace, id, command);
    if (decision.next === null) return { changed: false };
    // Accepted in this batch and untouched since: its delivery joins the same unit.
    const born = batch.bornIn(handoff);
    if (born === undefined) batch.add(unit);
    else batch.extend(born, unit);
    if (decision.refusal !== null || error !== null) return { changed: true };
    waiting.given.push({ handoff: decision.next, unit: born ?? unit });
    return { changed: true, claim: waiting };
  }
}

interface FreeGroup {
  readonly group: ClaimGroup;
  readonly slots: number;
}

function freeGroups(groups: Iterable<ClaimGroup>, most: number): readonly FreeGroup[] {
  const free: FreeGroup[] = [];
  for (const group of groups) {
    const slots = freeSlots(group, most);
    if (slots > 0) free.push({ group, slots });
  }
  return free;
}

function slotsByQueue(free: readonly FreeGroup[], most: number): ReadonlyMap<string, number> {
  const wanted = new Map<string, number>();
  for (const { group, slots } of free) {
    for (const queue of group.due) wanted.set(queue, Math.min(most, (wanted.get(queue) ?? 0) + slots));
  }
  return wanted;
}

/** Whether what was read for another leaves this agent enough to choose from. */
function isEnough(plenty: readonly Ready[] | undefined, agent: string, slots: number): boolean {
  if (plenty === undefined) return false;
  let usable = 0;
  for (const { excluded } of plenty) {
    if (excluded.includes(agent)) continue;
    usable += 1;
    if (usable >= slots) return true;
  }
  return false;
}

function freeSlots({ claims }: ClaimGroup, most: number): number {
  let free = 0;
  for (const { claim, given } of claims) {
    free += claim.slots - given.length;
    if (free >= most) return most;
  }
  return free;
}
