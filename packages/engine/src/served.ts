/** Which agent served the last handoff of a lane or conversation: in memory for a while, in the store for as long as the handoff. */

import { type Handoff, laneOf, type Ready, type Tie, tiesOf } from "@handfast/core";
import { Names } from "./names.ts";
import type { Store } from "./store.ts";

export class Served {
  readonly #store: Store;
  readonly #limit: number;
  /** Null: the store knows of none. What was not asked for while the newer half filled up is forgotten. */
  #newer = new Names<string | null>();
  #older = new Names<string | null>();

  constructor(store: Store, limit: number) {
    this.#store = store;
    this.#limit = limit;
  }

  /** It was delivered, and that is committed. */
  delivered({ accepted, holders }: Handoff): void {
    const { namespace, from, to, capability, conversation_id } = accepted;
    const agent = holders.at(-1)?.agent;
    if (to !== null || agent === undefined) return;
    for (const tie of tiesOf({ lane: laneOf(accepted), from, conversation_id, capability })) {
      this.#keep(namespace, tieKey(tie), agent);
    }
  }

  /** Whether anything is remembered: where no work is tied to who served it, nothing has to be put right. */
  get isUsed(): boolean {
    return this.#newer.size + this.#older.size > 0;
  }

  /** Null: nobody, or it was not looked up. */
  by(namespace: string, tie: Tie): string | null {
    return this.#get(namespace, tieKey(tie)) ?? null;
  }

  /** Looks up what memory does not know of these, all at once: a store may be a round trip away. */
  async lookUp(namespace: string, ready: Iterable<Ready>): Promise<void> {
    const unknown = new Map<string, Tie>();
    for (const item of ready) {
      for (const tie of tiesOf(item)) {
        const key = tieKey(tie);
        if (this.#get(namespace, key) === undefined) unknown.set(key, tie);
      }
    }
    const looks = Array.from(unknown, async ([key, tie]) => {
      this.#keep(namespace, key, await this.#store.lastServed(namespace, tie));
    });
    if (looks.length > 0) await Promise.all(looks);
  }

  forget(): void {
    this.#newer.clear();
    this.#older.clear();
  }

  #get(namespace: string, key: string): string | null | undefined {
    const newer = this.#newer.get(namespace, key);
    if (newer !== undefined) return newer;
    const older = this.#older.get(namespace, key);
    if (older !== undefined) this.#keep(namespace, key, older);
    return older;
  }

  #keep(namespace: string, key: string, agent: string | null): void {
    this.#newer.set(namespace, key, agent);
    if (this.#newer.size < this.#limit / 2) return;
    this.#older = this.#newer;
    this.#newer = new Names();
  }
}

/** A lane is JSON, a conversation's key has the capability and its sender, which hold no space, in front. */
function tieKey(tie: Tie): string {
  return tie.kind === "sticky_order" ? tie.lane : `${tie.capability} ${tie.from ?? ""} ${tie.conversation_id}`;
}
