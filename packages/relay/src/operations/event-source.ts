/**
 * What can be followed: a handoff, or a whole correlation. Which handoffs are open is known from one look at the start
 * and from the events themselves, so that an event costs the same however many are open.
 */

import { type Handoff, hasEnded, liveLease } from "@handfast/core";
import { type EventQuery, wakeKey } from "@handfast/engine";
import type { EventView } from "@handfast/protocol/wire";
import type { Caller } from "../identity/caller.ts";
import { limits } from "../limits.ts";
import type { StreamEvent } from "./operation.ts";
import { seenAs } from "./parties.ts";
import { correlationOf, correlationPage, unknownCorrelation } from "./read.ts";
import type { Relay } from "./relay.ts";
import { type Sight, seesEvent, sightOf } from "./sight.ts";
import { codeOf } from "./view.ts";

/** Nothing after it is shown to whoever held the handoff before another agent got it. */
function isLast({ handoff, as }: Sight, { seq }: EventView): boolean {
  return as === "former_holder" && seq >= handoff.seq;
}

/** Everything is read from the store; being woken only means to look again. */
export interface Source {
  readonly key: string;
  readonly query: Pick<EventQuery, "namespace" | "handoff" | "correlation_id">;
  /** Takes notice of these events, all that are read and in their order; those that the caller may see. */
  readonly notice: (events: readonly EventView[]) => Promise<readonly EventView[]>;
  /** Everything followed has ended, by the events noticed so far. */
  readonly ended: () => boolean;
  readonly snapshot: () => Promise<readonly Handoff[]>;
  /** Progress that is not in the log, since the last call. */
  readonly progress: () => Promise<readonly StreamEvent[]>;
  readonly end: () => Promise<unknown>;
  /** When much happens: the shortest time between two looks at the log, and between two at the progress. */
  readonly gather_ms: number;
  readonly progress_ms: number;
}

const ends: ReadonlySet<string> = new Set(["completed", "failed", "rejected", "canceled", "expired"]);

export async function handoffSource(relay: Relay, caller: Caller, id: string): Promise<Source> {
  const { namespace } = caller;
  const get = () => seenAs(relay, caller, id);
  const first = await get();
  let is_over = first.as === "former_holder" || hasEnded(first.handoff.status);
  const progress = new ProgressTeller();
  return {
    key: wakeKey.handoff(namespace, id),
    query: { namespace, handoff: id },
    notice: async (events) => {
      is_over ||= events.some(({ type }) => ends.has(type));
      if (first.as === "party") return events;
      const sight = await get();
      is_over ||= events.some((event) => isLast(sight, event));
      return events.filter((event) => seesEvent(sight, caller, event));
    },
    ended: () => is_over,
    snapshot: async () => [(await get()).handoff],
    progress: async () => progress.tell((await get()).handoff),
    end: async () => {
      const { handoff } = await get();
      return { id, state: handoff.status.state, code: codeOf(handoff) };
    },
    gather_ms: 0,
    progress_ms: 0,
  };
}

export async function correlationSource(relay: Relay, caller: Caller, correlation_id: string): Promise<Source> {
  const { namespace } = caller;
  const followed = await Followed.open(relay, caller, correlation_id);
  if (followed.known.size === 0) throw unknownCorrelation(correlation_id);
  const progress = new ProgressTeller();
  return {
    key: wakeKey.correlation(namespace, correlation_id),
    query: { namespace, correlation_id },
    notice: (events) => followed.notice(events),
    ended: () => followed.open.size === 0,
    snapshot: async () => (await correlationOf(relay, caller, correlation_id)).handoffs,
    progress: async () => {
      const told: StreamEvent[] = [];
      for (const id of followed.held) {
        const sight = await followed.look(id);
        if (sight !== null) told.push(...progress.tell(sight.handoff));
      }
      return told;
    },
    end: async () => ({ correlation_id, total: followed.known.size }),
    gather_ms: relay.limits.sse_gather_ms,
    progress_ms: relay.limits.sse_progress_ms,
  };
}

/**
 * The handoffs of a correlation that the caller may see: those that are open, and among them those that are held. Those that it
 * only holds, or held, are looked at anew with their events: how much of them it sees changes.
 */
class Followed {
  readonly known = new Set<string>();
  readonly open = new Set<string>();
  readonly held = new Set<string>();
  readonly #worked_on = new Set<string>();
  readonly #relay: Relay;
  readonly #caller: Caller;

  private constructor(relay: Relay, caller: Caller) {
    this.#relay = relay;
    this.#caller = caller;
  }

  static async open(relay: Relay, caller: Caller, correlation_id: string): Promise<Followed> {
    const followed = new Followed(relay, caller);
    let place = {};
    for (;;) {
      const page = await correlationPage(relay, caller, correlation_id, place, limits.page_size_most);
      for (const handoff of page.handoffs) followed.#add(handoff);
      if (page.after === null || followed.known.size >= limits.tree_handoffs) return followed;
      place = { after: page.after };
    }
  }

  #add(record: Handoff): void {
    const sight = sightOf(record, this.#caller);
    if (sight === null) return;
    const { handoff, as } = sight;
    const { id } = handoff.accepted;
    this.known.add(id);
    if (as !== "party") this.#worked_on.add(id);
    if (as === "former_holder" || hasEnded(handoff.status)) return;
    this.open.add(id);
    if (liveLease(handoff) !== null) this.held.add(id);
  }

  async look(id: string): Promise<Sight | null> {
    const handoff = await this.#relay.engine.get(this.#caller.namespace, id);
    return handoff === null ? null : sightOf(handoff, this.#caller);
  }

  async notice(events: readonly EventView[]): Promise<readonly EventView[]> {
    const visible: EventView[] = [];
    const hidden = new Set<string>();
    const looked = new Map<string, Sight | null>();
    for (const event of events) {
      const { handoff: id } = event;
      if (!this.known.has(id) && !hidden.has(id) && !(await this.#meet(id))) hidden.add(id);
      if (hidden.has(id)) continue;
      if (this.#worked_on.has(id)) {
        const sight = looked.get(id) ?? (await this.look(id));
        looked.set(id, sight);
        if (sight === null || isLast(sight, event)) this.#leave(id);
        if (sight === null || !seesEvent(sight, this.#caller, event)) continue;
      }
      this.#follow(event);
      visible.push(event);
    }
    return visible;
  }

  /** One that came since, or that the caller became a party of: open until its end is read, even if it has ended. */
  async #meet(id: string): Promise<boolean> {
    const sight = await this.look(id);
    if (sight === null) return false;
    this.known.add(id);
    this.open.add(id);
    if (sight.as !== "party") this.#worked_on.add(id);
    return true;
  }

  /** Its part in it is over. */
  #leave(id: string): void {
    this.open.delete(id);
    this.held.delete(id);
  }

  #follow({ handoff: id, type }: EventView): void {
    if (type === "delivered" && this.#worked_on.has(id)) this.open.add(id);
    if (ends.has(type)) this.open.delete(id);
    if (ends.has(type) || type === "requeued" || type === "parked") this.held.delete(id);
    else if ((type === "delivered" || type === "acknowledged") && this.open.has(id)) this.held.add(id);
  }
}

/** The whole state of progress, once per change; a reader that misses one misses nothing. */
class ProgressTeller {
  readonly #told = new Map<string, number>();

  tell({ accepted, progress, status }: Handoff): StreamEvent[] {
    if (hasEnded(status)) this.#told.delete(accepted.id);
    if (progress === null || hasEnded(status) || this.#told.get(accepted.id) === progress.at) return [];
    this.#told.set(accepted.id, progress.at);
    return [{ event: "progress", data: { handoff: accepted.id, code: 212, ...progress } }];
  }
}
