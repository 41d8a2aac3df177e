/** Brings ready handoffs and waiting claims together, inside the batch that is being made. */

import { type Assignment, choose, type Ready } from "@handfast/core";
import type { Batch } from "./batch.ts";
import type { ClaimGroup } from "./claim-groups.ts";
import { FarLooks } from "./far-looks.ts";
import type { EngineLimits } from "./limits.ts";
import type { Poison } from "./poison.ts";
import { planned } from "./reading.ts";
import type { Look, Router } from "./router.ts";
import type { Store } from "./store.ts";
import { UnitBuilder } from "./unit.ts";
import type { WaitingClaim, Workers } from "./workers.ts";

/** More than the free slots are read, because a preference may hold some back. */
const spare_candidates = 16;
const most_spare_candidates = 8_192;

interface Stored {
  readonly stored: readonly Ready[];
  /** The queues of which not all were read. */
  readonly cut: ReadonlySet<string>;
  /** Where not all were read: up to which rank of all that it may have, by agent. */
  readonly reach: ReadonlyMap<string, number>;
}

interface Delivery {
  readonly changed: boolean;
  readonly claim?: WaitingClaim;
}

interface Dispatched {
  /** The claims that got something. */
  readonly served: ReadonlySet<WaitingClaim>;
  /** More could be leased than one batch may. */
  readonly more: boolean;
  /** Something ready is held back from somebody who waits: time alone may change that. */
  readonly held: boolean;
}

interface DispatchOptions {
  readonly store: Store;
  readonly workers: Workers;
  readonly limits: EngineLimits;
  readonly poison: Poison;
  /** Null: all agents are equal. */
  readonly router: Router | null;
  readonly onBug: ((error: unknown) => void) | undefined;
}

export class Dispatch {
  readonly #store: Store;
  readonly #workers: Workers;
  readonly #limits: EngineLimits;
  readonly #poison: Poison;
  readonly #router: Router | null;
  readonly #far: FarLooks;
  readonly #onBug: ((error: unknown) => void) | undefined;

  constructor({ store, workers, limits, poison, router, onBug }: DispatchOptions) {
    this.#store = store;
    this.#workers = workers;
    this.#limits = limits;
    this.#poison = poison;
    this.#router = router;
    this.#far = new FarLooks(router === null ? 0 : limits.held_again_ms);
    this.#onBug = onBug;
  }

  /**
   * Leases what can be leased. Whatever is left waiting afterwards has nothing ready that it could be given, as far as the
   * candidates looked at reach.
   */
  async run(batch: Batch): Promise<Dispatched> {
    const served = new Set<WaitingClaim>();
    let left = this.#limits.deliveries_per_batch;
    let held = false;
    for (const namespace of this.#workers.namespaces) {
      const look = this.#router?.look(namespace, batch.now, () => batch.changedIn(namespace)) ?? null;
      /** Queues that were read further, so far in vain. */
      const beyond = new Set<string>();
      for (let spare = spare_candidates; left > 0 && this.#workers.hasFreeSlot(namespace); ) {
        const { stored, cut, reach } = await this.#stored(batch, namespace, spare, look);
        const here = batch.readyHere(namespace).filter((one) => !this.#isPoison(batch, namespace, one));
        if (here.length === 0 && stored.length === 0 && cut.size === 0) break;
        const ready = [...here, ...stored];
        const far = spare >= most_spare_candidates;
        const assigned = (await this.#choose(batch, namespace, ready, look)).slice(0, left);
        const chosen = withinReach(assigned, ready, far ? nowhere : reach);
        await batch.prefetch(chosen.map(({ id }) => ({ namespace, id })));
        let changes = 0;
        for (const assignment of chosen) {
          const { changed, claim } = await this.#tryToDeliver(batch, namespace, assignment);
          if (claim !== undefined) served.add(claim);
          if (changed) changes += 1;
        }
        left -= changes;
        if (changes > 0) {
          beyond.clear();
          continue;
        }
        held ||= look !== null && ready.length > 0;
        // Nothing of what was read may be given now: look further, or there is nothing more.
        if (far || !this.#far.mayGo(namespace, cut, batch.now)) break;
        for (const queue of cut) beyond.add(queue);
        spare *= 8;
      }
      if (beyond.size > 0) this.#far.inVain(namespace, beyond, batch.now);
    }
    return { served, more: left <= 0, held };
  }

  async #choose(
    batch: Batch,
    namespace: string,
    ready: readonly Ready[],
    look: Look | null,
  ): Promise<readonly Assignment[]> {
    const { now } = batch;
    if (look === null) return choose(ready, this.#workers.live(namespace, ready, now), now);
    await look.lookUp(ready, (queue) => this.#workers.isContested(namespace, queue));
    const live = this.#workers.live(namespace, ready, now, (agent, queue) => look.isUnsound(agent, queue));
    return choose(ready, live, now, look.routing());
  }

  /**
   * Ready handoffs on disk for claims with free slots, asked for only where something may have arrived. Each queue by itself, so
   * that much work in one does not hide the work in another; and once for all the agents that serve it, excluded or not, unless
   * that leaves one of them too little to choose from.
   */
  async #stored(batch: Batch, namespace: string, spare: number, look: Look | null): Promise<Stored> {
    const found = new Map<string, Ready>();
    const reach = new Map<string, number>();
    const cut = new Set<string>();
    const inFlight = look?.routing().inFlight;
    const { stays_ms } = batch.timing.limits;
    const shared = new Map<string, readonly Ready[]>();
    const free = freeGroups(this.#workers.groups.due(namespace), this.#limits.deliveries_per_batch);
    const demands = demandByQueue(free, this.#limits.deliveries_per_batch);
    const read = async (queue: string, agent: string, limit: number): Promise<readonly Ready[]> => {
      const candidates = await this.#store.candidates({ namespace, queues: [queue], agent, limit, stays_ms });
      for (const ready of candidates) {
        if (!batch.changedHere(namespace, ready.id) && !this.#isPoison(batch, namespace, ready))
          found.set(ready.id, ready);
      }
      return candidates;
    };
    for (const { group, slots } of free) {
      const { agent } = group;
      for (const queue of group.due) {
        // What it cannot have at all is not read; it stays due.
        if (inFlight !== undefined && look?.isBarred(agent, queue, inFlight) === true) continue;
        const demand = demands.get(queue) ?? { slots, agent };
        const limit = demand.slots + spare;
        const all = shared.get(queue) ?? (await read(queue, demand.agent, limit));
        shared.set(queue, all);
        const isShort = all.length >= limit && countFor(all, agent) < slots;
        const own = isShort ? await read(queue, agent, limit) : all;
        if (countFor(own, agent) === 0) group.due.delete(queue);
        const last = own.length >= limit ? own.at(-1) : undefined;
        if (last === undefined) continue;
        cut.add(queue);
        reach.set(agent, Math.min(last.rank, reach.get(agent) ?? last.rank));
      }
    }
    return { stored: [...found.values()], cut, reach };
  }

  #isPoison(batch: Batch, namespace: string, { id }: Ready): boolean {
    return this.#poison.has(namespace, id, batch.now);
  }

  /** One that a mistake of ours keeps from being delivered is passed over for a while: it must not keep the others. */
  async #tryToDeliver(batch: Batch, namespace: string, assignment: Assignment): Promise<Delivery> {
    const { id } = assignment;
    try {
      return await planned(() => this.#deliver(batch, namespace, assignment));
    } catch (error) {
      // Was it the store itself, then this fails too, and the batch with it.
      await this.#store.load("", []);
      this.#poison.add(namespace, id, batch.now);
      this.#onBug?.(error);
      return { changed: true };
    }
  }

  /** Delivers, or excludes the agent whose manifest the input no longer fits. */
  #deliver(batch: Batch, namespace: string, { id, agent, worker, why }: Assignment): Delivery {
    const handoff = batch.see(namespace, id);
    const waiting =
      handoff === null ? undefined : this.#workers.claimFor(namespace, { agent, worker }, handoff.accepted);
    if (handoff === null || waiting === undefined) return { changed: false };
    const offer = waiting.claim.offer(handoff);
    const body = offer.since > handoff.accepted.accepted_at ? batch.body(namespace, id) : null;
    const error = body === null ? null : offer.check(body);
    const { manifest, attempt_ms, idempotent } = offer;
    const { request_id } = waiting.claim;
    const command =
      error === null
        ? ({ type: "deliver", agent, worker, request_id, manifest, attempt_ms, idempotent, why } as const)
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

interface Demand {
  readonly slots: number;
  /** Who asks; nobody in particular where several do. */
  readonly agent: string;
}

function demandByQueue(free: readonly FreeGroup[], most: number): ReadonlyMap<string, Demand> {
  const demands = new Map<string, Demand>();
  for (const { group, slots } of free) {
    for (const queue of group.due) {
      const other = demands.get(queue);
      const agent = other === undefined || other.agent === group.agent ? group.agent : "";
      demands.set(queue, { slots: Math.min(most, (other?.slots ?? 0) + slots), agent });
    }
  }
  return demands;
}

function countFor(candidates: readonly Ready[], agent: string): number {
  return candidates.reduce((count, { excluded }) => count + (excluded.includes(agent) ? 0 : 1), 0);
}

const nowhere: Stored["reach"] = new Map();

/** Those chosen before the first whose agent may have better ones that were not read: what this batch changed may hide them. */
function withinReach(
  chosen: readonly Assignment[],
  ready: readonly Ready[],
  reach: Stored["reach"],
): readonly Assignment[] {
  if (reach.size === 0) return chosen;
  const byId = new Map(ready.map((one) => [one.id, one]));
  const beyond = chosen.findIndex(({ id, agent }) => {
    const one = byId.get(id);
    return one !== undefined && one.rank > (reach.get(agent) ?? Number.POSITIVE_INFINITY);
  });
  return beyond < 0 ? chosen : chosen.slice(0, beyond);
}

function freeSlots({ claims }: ClaimGroup, most: number): number {
  let free = 0;
  for (const { claim, given } of claims) {
    free += claim.slots - given.length;
    if (free >= most) return most;
  }
  return free;
}
