/**
 * Wakes whoever waits. Carries no data: the one that is woken reads the store. A mark tells whoever was away in between
 * whether there was a wakeup meanwhile.
 */

import type { Duration } from "@handfast/core";
import { Passing } from "./passing.ts";
import type { Surroundings } from "./surroundings.ts";

/** Names of what can be waited for: the kind, then which. */
export const wakeKey = {
  handoff: (namespace: string, id: string) => `handoff ${namespace} ${id}`,
  correlation: (namespace: string, id: string) => `correlation ${namespace} ${id}`,
  /** Something ended or was asked for this sender. */
  sender: (namespace: string, agent: string) => `sender ${namespace} ${agent}`,
  /** A question was put to this sender. */
  asked: (namespace: string, agent: string) => `asked ${namespace} ${agent}`,
  /** A question was put to anybody. */
  desk: (namespace: string) => `desk ${namespace}`,
  /** A call for a proposal was put to this agent. */
  proposals: (namespace: string, agent: string) => `proposals ${namespace} ${agent}`,
  /** Somebody answered within this negotiation. */
  negotiation: (namespace: string, id: string) => `negotiation ${namespace} ${id}`,
  log: (namespace: string) => `log ${namespace}`,
} as const;

/** Keys whose wakeups are counted at a time: one for each agent that follows its outcomes or questions. */
const most_marked = 100_000;

export class Wakeups {
  /** Whoever waits beside a wakeup for a time, waits by the same clock. */
  readonly surroundings: Surroundings;
  readonly #listeners = new Passing<string, Set<() => void>>();
  /** How many keys of each kind somebody waits for. */
  readonly #kinds = new Map<string, number>();
  /** How often each key was woken since it was first marked. */
  readonly #marked = new Map<string, number>();
  /** Tells marks of this relay's life from those of an earlier one. */
  #life: string | null = null;

  constructor(surroundings: Surroundings) {
    this.surroundings = surroundings;
  }

  subscribe(key: string, listener: () => void): () => void {
    let set = this.#listeners.get(key);
    if (set === undefined) {
      set = new Set();
      this.#listeners.set(key, set);
      this.#count(key, 1);
    }
    const own = set.add(listener);
    return () => {
      own.delete(listener);
      if (own.size > 0 || this.#listeners.get(key) !== own) return;
      this.#listeners.delete(key);
      this.#count(key, -1);
    };
  }

  /** Whether anybody waits for something of this kind: where nobody does, its keys need not be made. */
  hears(kind: keyof typeof wakeKey): boolean {
    return (this.#kinds.get(kind) ?? 0) > 0;
  }

  #count(key: string, delta: number): void {
    const kind = kindOf(key);
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + delta);
  }

  publish(keys: Iterable<string>): void {
    for (const key of keys) {
      const count = this.#marked.get(key);
      if (count !== undefined) this.#marked.set(key, count + 1);
      for (const listener of [...(this.#listeners.get(key) ?? [])]) listener();
    }
  }

  /** Stays the same until the key is published. One that this relay did not give in this life fits nothing. */
  mark(key: string): string {
    const count = this.#marked.get(key);
    if (count === undefined && this.#marked.size >= most_marked) {
      this.#marked.clear();
      this.#life = null;
    }
    if (count === undefined) this.#marked.set(key, 0);
    this.#life ??= Buffer.from(this.surroundings.randomBytes(9)).toString("base64url");
    return `${this.#life}.${kindOf(key)}.${count ?? 0}`;
  }

  /**
   * Resolves when the key is published, the time is over, or the signal aborts. Begin to wait before reading the store,
   * or what is published in between is missed.
   */
  wait(key: string, wait_ms: Duration, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        stop();
        cancel();
        signal?.removeEventListener("abort", finish);
        resolve();
      };
      const stop = this.subscribe(key, finish);
      const cancel = this.surroundings.schedule(wait_ms, finish);
      signal?.addEventListener("abort", finish);
      if (signal?.aborted) finish();
    });
  }

  get size(): number {
    return this.#listeners.size;
  }
}

function kindOf(key: string): string {
  return key.slice(0, key.indexOf(" "));
}
