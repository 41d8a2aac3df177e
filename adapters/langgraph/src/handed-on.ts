/**
 * What a served graph hands on, from the side of whoever serves it: outcomes are read for the graph, and taken once it has
 * used them.
 *
 * A served graph always pauses for its outcomes, so there is one place that gives them to it. Given is not used: until
 * LangGraph has kept what the graph made of an outcome, a worker that dies leaves it to the next attempt to read it again,
 * and the relay keeps what was taken for a while only. So an outcome is taken when a run came back, or threw, and the state
 * that it left waits for it no longer. A worker that dies between the two leaves it untaken, and nobody follows it: the
 * attempt that ends the graph looks for what earlier ones left.
 */

import { type Outcome, outcomeOf } from "@handfast/adapter-kit";
import { type Client, type Context, HandoffError, type HandoffView } from "@handfast/client";
import { keyOf } from "./handoff-step.ts";

/** In one attempt of one handoff. */
export class HandedOn {
  readonly #hf: Client;
  readonly #ctx: Context;
  /** What the graph was given an outcome for: the handoff, and those by which it was redriven. */
  readonly #given = new Map<string, readonly string[]>();

  constructor(hf: Client, ctx: Context) {
    this.#hf = hf;
    this.#ctx = ctx;
  }

  /** What the graph was given and is not taken yet. */
  get given(): readonly string[] {
    return [...this.#given.keys()];
  }

  /** Waits until it has ended. */
  async outcome(handoff: string): Promise<Outcome> {
    const { signal } = this.#ctx;
    const line = [handoff];
    let handle = this.#hf.handle(handoff);
    for (;;) {
      const { dead_letter } = await handle.outcome({ signal, take: false });
      if (dead_letter?.status !== "redriven" || dead_letter.id === undefined) break;
      // As for whoever resumes: the outcome of its redrive counts.
      line.push(dead_letter.id);
      handle = this.#hf.handle(dead_letter.id);
    }
    const outcome = await outcomeOf(handle, { signal });
    this.#given.set(handoff, line);
    return outcome;
  }

  /** Takes what the graph was given, but for what its state still waits for. */
  async takeUsed(waiting: readonly string[]): Promise<void> {
    const used = [...this.#given].filter(([handoff]) => !waiting.includes(handoff));
    await this.#take(used.flatMap(([, line]) => line));
    for (const [handoff] of used) this.#given.delete(handoff);
  }

  /** Takes what attempts before this one left. The graph has ended, so it wants none of it. */
  async takeRest(): Promise<void> {
    const { id: causation_id } = this.#ctx.handoff;
    // Others were sent by nodes on their own account: it is for them to take those.
    const isOurs = ({ idempotency_key }: HandoffView) => idempotency_key.endsWith(keyOf("", causation_id));
    const isLeft = ({ ended_at, taken_at }: HandoffView) => ended_at !== null && taken_at === null;
    let cursor: string | null = null;
    do {
      const place: { cursor?: string } = cursor === null ? {} : { cursor };
      const query = { from: this.#hf.agent, causation_id, ...place };
      const page: { handoffs: HandoffView[]; cursor: string | null } = await this.#hf.call(
        "list",
        { query },
        { signal: this.#ctx.signal },
      );
      await this.#take(page.handoffs.filter((each) => isOurs(each) && isLeft(each)).map(({ id }) => id));
      ({ cursor } = page);
    } while (cursor !== null);
  }

  async #take(handoffs: readonly string[]): Promise<void> {
    await Promise.all(handoffs.map((handoff) => this.#takeOne(handoff)));
  }

  async #takeOne(handoff: string): Promise<void> {
    try {
      await this.#hf.handle(handoff).take({ signal: this.#ctx.signal });
    } catch (error) {
      // Retention may have dropped it: then there is nothing to take. The graph has its outcome.
      if (!(error instanceof HandoffError && error.code === 404)) throw error;
    }
  }
}
