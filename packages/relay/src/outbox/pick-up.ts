/**
 * Hands over what transactions in PostgreSQL have posted, once they have committed. Looks for it again and again, at random
 * moments, so that several nodes share the work; whatever several nodes or one that died take twice is one handoff, by its id.
 *
 * What is accepted, or has become a dead letter, is dropped from the outbox. What time may mend (the sender's quota, a full
 * disk, a store that recovers) is looked at again later, and after a day becomes a dead letter too.
 */

import { EngineFault, isAway, type Submission, type Surroundings } from "@handfast/engine";
import type { Fate, Posted } from "@handfast/store-postgres";
import type { Logger } from "pino";
import type { RelayLimits } from "../limits.ts";
import { refused } from "../operations/refuse.ts";
import type { Relay } from "../operations/relay.ts";
import { Problem } from "../problem.ts";
import { deadSubmission, submissionFor } from "./posted-submission.ts";

/** Where it is taken from. */
interface Outbox {
  take(limit: number, judge: (posted: readonly Posted[]) => Promise<readonly Fate[]>): Promise<number>;
  close(): Promise<void>;
}

export interface PickUpOptions {
  readonly relay: Relay;
  readonly outbox: Outbox;
  readonly surroundings: Surroundings;
  readonly limits: RelayLimits;
  readonly log: Logger;
}

export class PickUp {
  readonly #options: PickUpOptions;
  #cancel: (() => void) | null = null;
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;
  /** Told once, until it is well again. */
  #is_failing = false;

  constructor(options: PickUpOptions) {
    this.#options = options;
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    const { outbox, surroundings, limits } = this.#options;
    // A server that does not answer is not waited for: what was being taken is taken again, and is one handoff all the same.
    const cancel = surroundings.schedule(limits.stop_ms, () => void outbox.close());
    await this.#looking;
    cancel();
    await outbox.close();
  }

  #schedule(): void {
    if (this.#stopped) return;
    const { surroundings, limits } = this.#options;
    const { outbox_look_least_ms: least, outbox_look_most_ms: most } = limits;
    this.#cancel = surroundings.schedule(least + surroundings.random() * (most - least), () => {
      this.#looking = this.#look().finally(() => this.#schedule());
    });
  }

  async #look(): Promise<void> {
    const { relay, outbox, limits, log } = this.#options;
    try {
      const rows = limits.outbox_rows;
      // Where there are more, they are not kept waiting.
      while (
        !this.#stopped &&
        !relay.nodes.isDraining &&
        (await outbox.take(rows, (posted) => this.#judge(posted))) === rows
      );
      this.#is_failing = false;
    } catch (error) {
      if (!this.#is_failing) log.warn({ err: error }, "what was posted could not be picked up; it is tried again");
      this.#is_failing = true;
    }
  }

  /**
   * Asked of the engine in the order they were posted, and answered together: they share a commit. Only those of one ordering key wait for each
   * other, because none may pass one that is put off. Far from the database that takes long, and what was taken must be answered for before the
   * database gives it to others: given back again and again, it would never be dropped.
   */
  async #judge(posted: readonly Posted[]): Promise<readonly Fate[]> {
    const { surroundings, limits } = this.#options;
    const until = surroundings.now() + limits.outbox_order_ms;
    const fates: Promise<Fate>[] = [];
    const lanes = new Map<string, Promise<Fate>>();
    for (const each of posted) {
      const lane = each.ordering_key === null ? null : JSON.stringify([each.agent, each.ordering_key]);
      const before = lane === null ? undefined : lanes.get(lane);
      const fate = before === undefined ? await this.#handOver(each) : { fate: this.#after(before, each, until) };
      fates.push(fate.fate);
      if (lane !== null) lanes.set(lane, fate.fate);
    }
    return Promise.all(fates);
  }

  async #after(before: Promise<Fate>, posted: Posted, until: number): Promise<Fate> {
    const { kind } = await before;
    if (kind === "later") return this.#later(posted);
    if (kind === "left" || this.#options.surroundings.now() >= until) return { kind: "left" };
    return (await this.#handOver(posted)).fate;
  }

  /** Waits until it is asked for, not for its fate. */
  async #handOver(posted: Posted): Promise<{ readonly fate: Promise<Fate> }> {
    const prepared = await this.#prepare(posted);
    return { fate: "kind" in prepared ? Promise.resolve(prepared) : this.#submit(posted, prepared) };
  }

  #later({ tries }: Posted): Fate {
    const { outbox_retry_ms: first, outbox_retry_most_ms: most } = this.#options.limits;
    return { kind: "later", in_ms: Math.min(first * 2 ** tries, most) };
  }

  async #prepare(posted: Posted): Promise<Submission | Fate> {
    try {
      return await submissionFor(this.#options.relay, posted);
    } catch (error) {
      return this.#refused(posted, error);
    }
  }

  async #submit(posted: Posted, submission: Submission): Promise<Fate> {
    try {
      await this.#accept(submission);
      return { kind: "done" };
    } catch (error) {
      return this.#refused(posted, error);
    }
  }

  async #accept(submission: Submission): Promise<void> {
    const answer = await this.#options.relay.engine.submit([submission]);
    const [first] = answer.ok ? [] : answer.refusals;
    if (first !== undefined) throw refused(first.refusal);
  }

  async #refused(posted: Posted, error: unknown): Promise<Fate> {
    const { limits, log } = this.#options;
    const { id, agent, waited_ms } = posted;
    if (passes(error) && waited_ms < limits.outbox_give_up_ms) {
      return this.#later(posted);
    }
    const is_known = error instanceof Problem || error instanceof EngineFault;
    if (!is_known) log.error({ err: error, handoff: id, agent }, "the relay made a mistake with what was posted");
    const { code, reason, message } = is_known ? error : { code: 500, reason: "internal", message: String(error) };
    try {
      const { relay } = this.#options;
      await this.#accept(await deadSubmission(relay, posted, { code, reason, message }));
      return { kind: "done" };
    } catch (failed) {
      if (passes(failed)) return this.#later(posted);
      log.error(
        { err: failed, handoff: id, agent },
        "what was posted could not become a dead letter; it is left alone",
      );
      return { kind: "trouble", why: `${message} (${String(failed)})` };
    }
  }
}

/** The relay's own state, not what was posted, stands against it. */
function passes(error: unknown): boolean {
  if (error instanceof EngineFault || isAway(error)) return true;
  return error instanceof Problem && [429, 503, 507].includes(error.code);
}
