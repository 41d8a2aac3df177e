/**
 * The handlers of one client. It may serve several times, and the relay knows one manifest for its agent: so it is always
 * told of all of them, and whatever server gets a lease finds the handler for it.
 */

import type { Cost } from "@handfast/protocol";
import type { Base } from "../base.ts";
import type { Listed, Offered } from "./capabilities.ts";
import { messageOf } from "./faults.ts";

interface Entry {
  readonly offered: ReadonlyMap<string, Offered>;
  /** What other processes of the agent serve. */
  readonly elsewhere: ReadonlyMap<string, Listed>;
  readonly isStopping: () => boolean;
}

export class Handlers {
  static readonly #ofBase = new WeakMap<Base, Handlers>();
  readonly #base: Base;
  readonly #entries = new Set<Entry>();

  private constructor(base: Base) {
    this.#base = base;
  }

  static of(base: Base): Handlers {
    const known = Handlers.#ofBase.get(base) ?? new Handlers(base);
    Handlers.#ofBase.set(base, known);
    return known;
  }

  get names(): readonly string[] {
    return [...new Set([...this.#entries].flatMap(({ offered }) => [...offered.keys()]))];
  }

  /** Of one that stops only where no other has it. */
  find(capability: string): Offered | null {
    let stopping: Offered | null = null;
    for (const { offered, isStopping } of this.#entries) {
      const found = offered.get(capability);
      if (found === undefined) continue;
      if (!isStopping()) return found;
      stopping ??= found;
    }
    return stopping;
  }

  /** Resolves once the relay knows of them; the answer takes them out again. */
  async add(
    offered: ReadonlyMap<string, Offered>,
    elsewhere: ReadonlyMap<string, Listed>,
    isStopping: () => boolean,
  ): Promise<() => void> {
    const entry = { offered, elsewhere, isStopping };
    this.#entries.add(entry);
    try {
      await this.#offer();
    } catch (error) {
      this.#entries.delete(entry);
      throw error;
    }
    return () => this.#remove(entry);
  }

  /** An agent that goes away altogether leaves its manifest: what is sent to it waits until it is back. */
  #remove(entry: Entry): void {
    this.#entries.delete(entry);
    const { names } = this;
    const is_less = [...entry.offered.keys()].some((name) => !names.includes(name));
    if (!is_less || ![...this.#entries].some(({ isStopping }) => !isStopping())) return;
    this.#offer().catch((error: unknown) => {
      const message = `What ${this.#base.agent} no longer serves is still in its manifest: ${messageOf(error)}`;
      this.#base.warn({ reason: "manifest_not_renewed", message });
    });
  }

  #offer(): Promise<void> {
    const listed = new Map([...this.#entries].flatMap(({ elsewhere }) => [...elsewhere]));
    const is_shared = listed.size > 0;
    for (const name of this.names) {
      const offered = this.find(name);
      if (offered !== null) listed.set(name, offered);
    }
    const costs = new Map<string, Cost>();
    for (const [name, { cost }] of listed) if (cost !== null) costs.set(name, cost);
    const capabilities = [...listed.values()].map(({ capability }) => capability);
    // Each process reads its own first, and all of them are to state the same manifest.
    if (is_shared) capabilities.sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.#base.offer(capabilities, costs);
  }
}
