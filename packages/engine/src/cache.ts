/** Committed handoffs in memory. A handoff with a live lease stays: its heartbeats live only here. */

import { type Handoff, liveLease } from "@handfast/core";

export class HandoffCache {
  readonly #limit: number;
  /** Insertion order is the order of use. */
  readonly #recent = new Map<string, Handoff>();
  readonly #leased = new Map<string, Handoff>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string): Handoff | undefined {
    const leased = this.#leased.get(key);
    if (leased !== undefined) return leased;
    const recent = this.#recent.get(key);
    if (recent === undefined) return undefined;
    this.#recent.delete(key);
    this.#recent.set(key, recent);
    return recent;
  }

  /** Keeps the newer of the two: a read that started before a commit must not undo it. */
  set(key: string, handoff: Handoff): void {
    const known = this.#leased.get(key) ?? this.#recent.get(key);
    if (known !== undefined && known.version > handoff.version) return;
    this.delete(key);
    if (liveLease(handoff) !== null) {
      this.#leased.set(key, handoff);
      return;
    }
    this.#recent.set(key, handoff);
    if (this.#recent.size > this.#limit) {
      const oldest = this.#recent.keys().next();
      if (!oldest.done) this.#recent.delete(oldest.value);
    }
  }

  isLeased(key: string): boolean {
    return this.#leased.has(key);
  }

  delete(key: string): void {
    this.#recent.delete(key);
    this.#leased.delete(key);
  }

  clear(): void {
    this.#recent.clear();
    this.#leased.clear();
  }
}

export function handoffKey(namespace: string, id: string): string {
  return `${namespace} ${id}`;
}
