/**
 * For tests: senders and workers at every node, at work until they are told that it is enough and everything is done. What was not
 * confirmed is said again. Faults are paced by how far it has come, and meet it at a moment when something is under way.
 */

import type { Handoff } from "@handfast/core";
import { EngineFault } from "@handfast/engine";
import { type Node, namespace } from "./nodes.ts";

const terms = { deadline_ms: 600_000, queue_ms: 600_000, max_attempts: 50, max_deliveries: 50 } as const;

const most_open = 40;

/** Each works off its leases one by one: more than this many held, and one is left after any commit. */
export const workers_of_a_node = 2;

interface Moment {
  isNow(): boolean;
  act(): void;
}

/** What goes on at one node. */
class AtNode {
  /** Calls that are not answered yet. */
  asking = 0;
  /** Leases that were given here and have not ended. */
  readonly held = new Set<string>();
  faults: EngineFault[] = [];
}

export class NodeLoad {
  readonly accepted = new Set<string>();
  readonly done = new Set<string>();
  readonly #nodes: readonly Node[];
  readonly #at: readonly AtNode[];
  readonly #limits: { readonly lease_ms: number; readonly ack_ms: number };
  readonly #moments = new Set<Moment>();
  #running: Promise<unknown> | null = null;
  #is_enough = false;
  /** Only workers of this node take work; null: those of all do. */
  #only: number | null = null;

  constructor(nodes: readonly Node[], limits = { lease_ms: 20_000, ack_ms: 8_000 }) {
    this.#nodes = nodes;
    this.#at = nodes.map(() => new AtNode());
    this.#limits = limits;
  }

  start(): void {
    const senders = this.#nodes.map((_, nth) => this.#send(nth));
    const workers = this.#nodes.flatMap((_, nth) =>
      Array.from({ length: workers_of_a_node }, (_, n) => this.#work(nth, `bob-${nth}-${n}`)),
    );
    this.#running = Promise.all([...senders, ...workers]);
  }

  at(nth: number): AtNode {
    const at = this.#at[nth];
    if (at === undefined) throw new Error(`there is no node ${nth}`);
    return at;
  }

  get faults(): number {
    return this.#at.reduce((sum, { faults }) => sum + faults.length, 0);
  }

  /** Does it at the very moment when it is so. A load that fails is no reason to wait on. */
  async when(isNow: () => boolean, act: () => void = () => {}): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const moment = {
      isNow,
      act: () => {
        act();
        resolve();
      },
    };
    this.#moments.add(moment);
    this.#changed();
    await Promise.race([promise, this.#running?.then(() => promise) ?? promise]);
  }

  /** So many more are done, and this node has both a call under way and so many leases. */
  whenBusy(nth: number, more: number, act: () => void = () => {}, leases = 1): Promise<void> {
    const from = this.done.size;
    const { held } = this.at(nth);
    return this.when(() => this.done.size >= from + more && this.at(nth).asking > 0 && held.size >= leases, act);
  }

  /** The workers of the other nodes take nothing new, until all is to be finished; null: they do again. */
  workOnlyAt(nth: number | null): void {
    this.#only = nth;
    this.#changed();
  }

  whenDone(more: number): Promise<void> {
    const from = this.done.size;
    return this.when(() => this.done.size >= from + more);
  }

  /** No more is sent; resolves when all that was accepted is done. */
  async finish(): Promise<void> {
    this.#is_enough = true;
    this.workOnlyAt(null);
    await this.#running;
  }

  #changed(): void {
    for (const moment of [...this.#moments]) {
      if (!moment.isNow()) continue;
      this.#moments.delete(moment);
      moment.act();
    }
  }

  async #send(nth: number): Promise<void> {
    for (let n = 0; !this.#is_enough; n += 1) {
      const idempotency_key = `${nth} ${n}`;
      const ordering_key = n % 5 === 0 ? `lane ${n % 4}` : null;
      const patch = { idempotency_key, ordering_key, terms: { ...terms, ...this.#limits } };
      const { accepted } = await this.#insist(nth, (node) => node.submit(patch));
      this.accepted.add(accepted.id);
      // Some are ahead of the workers, so that one lane that stands does not hold all of them up; not a mountain.
      await this.when(() => this.accepted.size - this.done.size < most_open);
    }
  }

  async #work(nth: number, worker: string): Promise<void> {
    while (!this.#is_enough || this.done.size < this.accepted.size) {
      await this.when(() => this.#only === null || this.#only === nth);
      const leased = await this.#insist(nth, (node) => node.claim(worker, { wait_ms: 4_000, slots: 2 }));
      for (const { accepted } of leased) this.at(nth).held.add(accepted.id);
      for (const handoff of leased) await this.#do(nth, handoff);
    }
  }

  async #do(nth: number, leased: Handoff): Promise<void> {
    const { id } = leased.accepted;
    await this.#insist(nth, (node) => node.ack(leased));
    const { refusal } = await this.#insist(nth, (node) => node.complete(leased));
    this.at(nth).held.delete(id);
    if (refusal === null) this.done.add(id);
    this.#changed();
  }

  /** Only what the relay says may be said again, is. */
  async #insist<Answer>(nth: number, ask: (node: Node) => Promise<Answer>): Promise<Answer> {
    const node = this.#nodes[nth];
    if (node === undefined) throw new Error(`there is no node ${nth}`);
    for (;;) {
      const at = this.at(nth);
      try {
        at.asking += 1;
        const asked = ask(node);
        this.#changed();
        return await asked;
      } catch (error) {
        if (!(error instanceof EngineFault)) throw error;
        at.faults.push(error);
        await new Promise((resolve) => setTimeout(resolve, 50));
      } finally {
        at.asking -= 1;
        this.#changed();
      }
    }
  }
}

/** What is in the store, for whoever holds it against what the load was told. */
export async function storyOf(node: Node) {
  const found: Handoff[] = [];
  for (let after: string | undefined, is_more = true; is_more; is_more = after !== undefined) {
    const page = await node.store.list({
      namespace,
      order: "oldest",
      limit: 1_000,
      ...(after !== undefined && { after }),
    });
    found.push(...page.handoffs);
    after = page.after ?? undefined;
  }
  const { events } = await node.store.events({ namespace, after_pos: 0, limit: 1_000_000 });
  const told = events.map(({ json }): { readonly type: string; readonly handoff: string } => JSON.parse(json));
  return {
    states: new Set(found.map(({ status }) => status.state)),
    ids: new Set(found.map(({ accepted }) => accepted.id)),
    completed: told.filter(({ type }) => type === "completed").map(({ handoff }) => handoff),
    positions: events.map(({ pos }) => pos),
  };
}
