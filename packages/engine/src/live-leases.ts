/** How many live leases each agent has for each capability: what is committed, and as a batch in the making leaves it. */

import { endsLease, type Handoff, type HandoffEvent, liveLease } from "@handfast/core";
import { Names } from "./names.ts";
import type { Store } from "./store.ts";

interface Holding {
  readonly agent: string;
  readonly capability: string;
}

export class LiveLeases {
  /** By handoff; work that names no capability is not counted. */
  readonly #holdings = new Names<Holding>();
  readonly #counts = new Names<number>();

  /** Everything anew, as the store has it. */
  load(leases: Awaited<ReturnType<Store["leases"]>>): void {
    this.#holdings.clear();
    this.#counts.clear();
    for (const { namespace, id, agent, capability } of leases) {
      if (capability !== null) this.#hold(namespace, id, { agent, capability });
    }
  }

  /** It was committed like this. */
  note(handoff: Handoff): void {
    const { namespace, id } = handoff.accepted;
    const before = this.#holdings.get(namespace, id);
    const now = holdingOf(handoff);
    if (before !== undefined && before.agent === now?.agent) return;
    if (before !== undefined) this.#release(namespace, id, before);
    if (now !== null) this.#hold(namespace, id, now);
  }

  /** Another node committed this. */
  tell(event: HandoffEvent): void {
    const { namespace, handoff: id, capability } = event;
    const before = this.#holdings.get(namespace, id);
    if (event.type === "delivered") {
      if (before?.agent === event.agent) return;
      if (before !== undefined) this.#release(namespace, id, before);
      if (capability !== null) this.#hold(namespace, id, { agent: event.agent, capability });
    } else if (before !== undefined && endsLease(event)) this.#release(namespace, id, before);
  }

  /** Of one namespace, as they will be once these changes are committed. Asked for nothing, it costs nothing. */
  counter(namespace: string, changes: () => Iterable<Handoff>): (agent: string, capability: string) => number {
    let deltas: Map<string, number> | null = null;
    return (agent, capability) => {
      deltas ??= this.#deltas(namespace, changes());
      const key = countKey({ agent, capability });
      return (this.#counts.get(namespace, key) ?? 0) + (deltas.get(key) ?? 0);
    };
  }

  #deltas(namespace: string, changes: Iterable<Handoff>): Map<string, number> {
    const deltas = new Map<string, number>();
    const add = (holding: Holding, delta: number) => {
      const key = countKey(holding);
      deltas.set(key, (deltas.get(key) ?? 0) + delta);
    };
    for (const handoff of changes) {
      const before = this.#holdings.get(namespace, handoff.accepted.id);
      const now = holdingOf(handoff);
      if (before?.agent === now?.agent) continue;
      if (before !== undefined) add(before, -1);
      if (now !== null) add(now, 1);
    }
    return deltas;
  }

  #hold(namespace: string, id: string, holding: Holding): void {
    this.#holdings.set(namespace, id, holding);
    this.#count(namespace, holding, 1);
  }

  #release(namespace: string, id: string, holding: Holding): void {
    this.#holdings.delete(namespace, id);
    this.#count(namespace, holding, -1);
  }

  #count(namespace: string, holding: Holding, delta: number): void {
    const key = countKey(holding);
    const count = (this.#counts.get(namespace, key) ?? 0) + delta;
    if (count > 0) this.#counts.set(namespace, key, count);
    else this.#counts.delete(namespace, key);
  }
}

function holdingOf(handoff: Handoff): Holding | null {
  const { capability } = handoff.accepted;
  if (capability === null) return null;
  const lease = liveLease(handoff);
  return lease === null ? null : { agent: lease.agent, capability };
}

/** Names hold no space. */
function countKey({ agent, capability }: Holding): string {
  return `${agent} ${capability}`;
}
