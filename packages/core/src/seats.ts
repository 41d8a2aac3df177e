/** Who could be given something in one run of `choose`: workers with their free slots, and how their agents stand. */

import type { FreeWorker } from "./choose.ts";
import type { Routing, Standing } from "./routing.ts";

/** A worker and how many of its slots are left. */
export interface Seat {
  readonly worker: FreeWorker;
  free: number;
}

/** How an agent stands with a capability, and how many leases for it the agent has, those of this run included. */
export interface Entry {
  readonly standing: Standing;
  in_flight: number;
}

/** A seat as one queue sees it. */
export interface Place {
  readonly seat: Seat;
  /** Null where nothing is known of anybody, or no capability was asked for. */
  readonly entry: Entry | null;
}

/** Everybody who serves a queue; the flags tell which rules need not be looked at. */
export interface Serving {
  readonly places: readonly Place[];
  readonly is_one_agent: boolean;
  readonly some_lapsed: boolean;
  readonly some_unsound: boolean;
  readonly some_slow: boolean;
}

export class Seats {
  readonly #seats: readonly Seat[];
  readonly #routing: Routing | null;
  readonly #serving = new Map<string, Map<string | null, Serving>>();
  readonly #entries = new Map<string, Map<string, Entry>>();

  constructor(workers: readonly FreeWorker[], routing: Routing | null) {
    this.#seats = workers.map((worker) => ({ worker, free: worker.slots }));
    this.#routing = routing;
  }

  /** Work for an agent by name is in one queue whatever its capability; its agent may stand differently with each. */
  serving(queue: string, capability: string | null): Serving {
    let ofQueue = this.#serving.get(queue);
    if (ofQueue === undefined) {
      ofQueue = new Map();
      this.#serving.set(queue, ofQueue);
    }
    let serving = ofQueue.get(capability);
    if (serving === undefined) {
      serving = this.#look(queue, capability);
      ofQueue.set(capability, serving);
    }
    return serving;
  }

  #look(queue: string, capability: string | null): Serving {
    const places: Place[] = [];
    let is_one_agent = true;
    let some_lapsed = false;
    let some_unsound = false;
    let some_slow = false;
    for (const seat of this.#seats) {
      if (!takes(seat.worker, queue, capability)) continue;
      const entry = this.#entry(seat.worker.agent, capability);
      if (places[0] !== undefined && places[0].seat.worker.agent !== seat.worker.agent) is_one_agent = false;
      if (entry !== null) {
        const { standing } = entry;
        some_lapsed ||= standing.lapsed;
        some_unsound ||= !isSound(standing);
        some_slow ||= standing.p50_ms !== null;
      }
      places.push({ seat, entry });
    }
    return { places, is_one_agent, some_lapsed, some_unsound, some_slow };
  }

  #entry(agent: string, capability: string | null): Entry | null {
    if (this.#routing === null || capability === null) return null;
    let ofCapability = this.#entries.get(capability);
    if (ofCapability === undefined) {
      ofCapability = new Map();
      this.#entries.set(capability, ofCapability);
    }
    let entry = ofCapability.get(agent);
    if (entry === undefined) {
      const { standing, inFlight } = this.#routing;
      entry = { standing: standing(agent, capability), in_flight: inFlight(agent, capability) };
      ofCapability.set(agent, entry);
    }
    return entry;
  }
}

/** Whether work of this queue, for this capability, is what it asks for. */
export function takes(
  { queues, only }: Pick<FreeWorker, "queues" | "only">,
  queue: string,
  capability: string | null,
): boolean {
  return queues.has(queue) && (only === undefined || (capability !== null && only.has(capability)));
}

export function isSound({ breached, ejected }: Standing): boolean {
  return !breached && !ejected;
}

/** Nobody goes past what its agent takes at a time; a busy agent lives all the same. */
export function isFree({ seat, entry }: Place): boolean {
  if (seat.free <= 0) return false;
  const most = entry?.standing.max_concurrent ?? null;
  return most === null || entry === null || entry.in_flight < most;
}
