/** Committed handoffs in memory. A handoff with a live lease stays: its heartbeats live only here. */

import { type Handoff, liveLease } from "@handfast/core";
import { Names } from "./names.ts";

export class HandoffCache {
  readonly #limit: number;
  readonly #leased = new Names<Handoff>();
  /** What was not asked for while the newer half filled up is forgotten. */
  #newer = new Names<Handoff>();
  #older = new Names<Handoff>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(namespace: string, id: string): Handoff | undefined {
    const near = this.#leased.get(namespace, id) ?? this.#newer.get(namespace, id);
    if (near !== undefined) return near;
    const older = this.#older.get(namespace, id);
    if (older !== undefined) this.#keep(namespace, id, older);
    return older;
  }

  /** Keeps the newer of the two: a read that started before a commit must not undo it. */
  set(handoff: Handoff): void {
    const { namespace, id } = handoff.accepted;
    const known = this.get(namespace, id);
    if (known !== undefined && known.version > handoff.version) return;
    if (liveLease(handoff) === null) {
      this.#leased.delete(namespace, id);
      this.#keep(namespace, id, handoff);
    } else {
      this.#leased.set(namespace, id, handoff);
      this.#newer.delete(namespace, id);
      this.#older.delete(namespace, id);
    }
  }

  isLeased(namespace: string, id: string): boolean {
    return this.#leased.has(namespace, id);
  }

  delete(namespace: string, id: string): void {
    this.#leased.delete(namespace, id);
    this.#newer.delete(namespace, id);
    this.#older.delete(namespace, id);
  }

  clear(): void {
    this.#leased.clear();
    this.#newer.clear();
    this.#older.clear();
  }

  #keep(namespace: string, id: string, handoff: Handoff): void {
    this.#older.delete(namespace, id);
    this.#newer.set(namespace, id, handoff);
    if (this.#newer.size < this.#limit / 2) return;
    this.#older = this.#newer;
    this.#newer = new Names();
  }
}
