/**
 * What a batch on a shared store takes for so without having read it: a handoff is as this node last left it, and what somebody submits
 * is new. A wrong guess is a conflict at the commit. Where nothing will be committed, what was guessed has to be read first.
 */

import { type Handoff, type Time, type Timing, wakeAt } from "@handfast/core";
import type { HandoffCache } from "./cache.ts";
import { Names } from "./names.ts";
import { Missing } from "./reading.ts";

export class Guesses {
  readonly #newIds = new Names<true>();
  readonly #newKeys = new Set<string>();
  /** The reads that would make sure of all that the plan in the making guessed. */
  readonly #reads = new Map<string, () => Promise<void>>();

  takeForNew(namespace: string, id: string, key: string): void {
    this.#newIds.set(namespace, id, true);
    this.#newKeys.add(key);
  }

  isNewKey(key: string): boolean {
    return this.#newKeys.has(key);
  }

  /**
   * What a handoff is likely to be. Undefined also where a clock of it has run out by what is known here: a beat that another node
   * heard may have set it anew.
   */
  of(namespace: string, id: string, cache: HandoffCache, timing: Timing, now: Time): Handoff | null | undefined {
    const known = cache.get(namespace, id);
    if (known === undefined) return this.#newIds.has(namespace, id) ? null : undefined;
    const wake_at = wakeAt(known, timing, now);
    return wake_at === null || wake_at > now ? known : undefined;
  }

  /** The plan in the making goes by one; `read` would make sure. */
  made(name: string, read: () => Promise<void>): void {
    this.#reads.set(name, read);
  }

  /** It was read. */
  isSure(name: string): void {
    this.#reads.delete(name);
  }

  readOf(name: string): (() => Promise<void>) | undefined {
    return this.#reads.get(name);
  }

  /** Nothing of the plan in the making will be held against the store by a commit: what it guessed must be read. */
  makeSure(): void {
    if (this.#reads.size === 0) return;
    const reads = [...this.#reads.values()];
    throw new Missing(async () => {
      await Promise.all(reads.map((read) => read()));
    });
  }

  /** The next plan begins. */
  clear(): void {
    this.#reads.clear();
  }
}
