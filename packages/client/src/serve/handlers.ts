/**
 * The handlers of one client. It may serve several times, and the relay knows one manifest for its agent: so it is always
 * told of all of them, and whatever server gets a lease finds the handler for it.
 */

import type { Capability } from "@handfast/protocol";
import type { Base } from "../base.ts";
import type { Offered } from "./capabilities.ts";
import { messageOf } from "./faults.ts";

interface Entry {
  readonly offered: ReadonlyMap<string, Offered>;
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
  async add(offered: ReadonlyMap<string, Offered>, isStopping: () => boolean): Promise<() => void> {
    const entry = { offered, isStopping };
    this.#entries.add(entry);
    try {
      await this.#base.offer(this.#manifest());
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
    this.#base.offer(this.#manifest()).catch((error: unknown) => {
      const message = `What ${this.#base.agent} no longer serves is still in its manifest: ${messageOf(error)}`;
      this.#base.warn({ reason: "manifest_not_renewed", message });
    });
  }

  #manifest(): Capability[] {
    return this.names.flatMap((name) => this.find(name)?.capability ?? []);
  }
}
