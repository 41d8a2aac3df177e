/**
 * What a unit was decided on and does not write: the parent of a new handoff, the budgets above it, the order of a lane. With
 * one writer nothing of it can change between look and commit; a shared store holds it against what is there.
 */

import type { Handoff } from "@handfast/core";
import { Names } from "./names.ts";
import type { Expectation, LaneSeen, Write } from "./store.ts";

export class Expected {
  /** Made for the first: most units expect nothing. */
  #handoffs: Names<Handoff> | null = null;
  #lanes: Map<string, LaneSeen> | null = null;

  handoff(seen: Handoff): void {
    this.#handoffs ??= new Names();
    this.#handoffs.set(seen.accepted.namespace, seen.accepted.id, seen);
  }

  /** The widest look at a lane holds all that the narrower ones saw. */
  lane(seen: LaneSeen): void {
    this.#lanes ??= new Map();
    const key = `${seen.namespace} ${seen.lane}`;
    if ((this.#lanes.get(key)?.limit ?? 0) < seen.limit) this.#lanes.set(key, seen);
  }

  add(other: Expected): void {
    for (const seen of other.#handoffs?.values() ?? []) this.handoff(seen);
    for (const seen of other.#lanes?.values() ?? []) this.lane(seen);
  }

  /** What is left to be checked beside the versions of these writes; null: nothing. */
  besides(writes: readonly Write[]): Expectation | null {
    if (this.#handoffs === null && this.#lanes === null) return null;
    const written = new Set(writes.map(({ next }) => `${next.accepted.namespace} ${next.accepted.id}`));
    const handoffs = [...(this.#handoffs?.values() ?? [])]
      .map(({ accepted: { namespace, id }, version }) => ({ namespace, id, version }))
      .filter(({ namespace, id }) => !written.has(`${namespace} ${id}`));
    const lanes = [...(this.#lanes?.values() ?? [])];
    return handoffs.length === 0 && lanes.length === 0 ? null : { handoffs, lanes };
  }
}
