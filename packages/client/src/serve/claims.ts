/**
 * Asking for work. The slots of the open claims are the worker's credit: never more leases than free slots. Each claim has
 * a request id and is repeated under it until it brought leases, so that a broken connection loses none.
 */

import { makeId, wireLimits } from "@handfast/protocol/client";
import type { LeaseView } from "@handfast/protocol/wire";
import type { Base } from "../base.ts";
import { HandfastError } from "../errors.ts";
import { pause } from "../link/persist.ts";
import { messageOf } from "./faults.ts";
import { serveLimits as limits } from "./limits.ts";

interface Claim {
  readonly request_id: string;
  readonly slots: number;
}

const second_claim_share = 0.25;

export class Claims {
  readonly #base: Base;
  readonly #worker: string;
  readonly #only: { readonly capabilities?: string[] };
  readonly #onLeases: (leases: readonly LeaseView[]) => void;
  readonly #open = new Set<Claim>();
  readonly #ended = new AbortController();
  readonly #warned = new Set<string>();
  #was_given = false;

  /**
   * `only`: work for these capabilities alone; null: for all that the agent offers. `onLeases` is called when a claim is
   * answered, after its slots are free again.
   */
  constructor(
    base: Base,
    worker: string,
    only: readonly string[] | null,
    onLeases: (leases: readonly LeaseView[]) => void,
  ) {
    this.#base = base;
    this.#worker = worker;
    this.#only = only === null ? {} : { capabilities: [...only] };
    this.#onLeases = onLeases;
  }

  /** Slots lent to open claims. */
  get credit(): number {
    return [...this.#open].reduce((sum, { slots }) => sum + slots, 0);
  }

  /**
   * Claims as many as are free. While claims with more slots than that are open there is no hurry: the next answer, or
   * more that come free, bring their turn. So a busy worker asks once for many, and always has asked for half of them.
   *
   * Once it was given something, by two claims: one stands while the other's answer travels, so that what comes meanwhile need not
   * wait. The second is worth its while from a quarter of the first on. A worker that only waits has one.
   */
  ask(slots: number): void {
    const { size } = this.#open;
    if (slots < 1 || size >= limits.claims || this.#ended.signal.aborted) return;
    const is_second = size === 1 && this.#was_given;
    if (slots < this.credit * (is_second ? second_claim_share : 1)) return;
    const first = size === 0 && this.#was_given ? Math.ceil(slots / 2) : slots;
    this.#begin(first);
    if (first < slots) this.#begin(slots - first);
  }

  #begin(slots: number): void {
    const { now, randomBytes } = this.#base.surroundings;
    const claim = { request_id: makeId(now(), randomBytes(10)), slots: Math.min(slots, wireLimits.claim_slots) };
    this.#open.add(claim);
    void this.#untilAnswered(claim);
  }

  /** At once, and without a word. */
  abandon(): void {
    this.#ended.abort();
    this.#open.clear();
  }

  /**
   * Each open claim once more, which ends its wait: what was on its way under its id comes now. One slot is the least
   * that can be asked for, so it may bring a new lease too; the caller gives all of them back.
   */
  async takeBack(): Promise<readonly LeaseView[]> {
    const open = [...this.#open];
    this.#ended.abort();
    this.#open.clear();
    const options = { patience_ms: limits.errand_patience_ms };
    const calls = open.map(({ request_id }) =>
      this.#base.link.call("claim", { body: { worker: this.#worker, request_id, slots: 1, ...this.#only } }, options),
    );
    const replies = await Promise.allSettled(calls);
    return replies.flatMap((reply) => (reply.status === "fulfilled" ? reply.value.leases : []));
  }

  async #untilAnswered(claim: Claim): Promise<void> {
    const leases = await this.#answer(claim);
    if (!this.#open.delete(claim)) return;
    this.#was_given ||= leases.length > 0;
    this.#onLeases(leases);
  }

  async #answer({ request_id, slots }: Claim): Promise<readonly LeaseView[]> {
    const { link, surroundings } = this.#base;
    const { signal } = this.#ended;
    const body = { worker: this.#worker, request_id, slots, proofs: true, ...this.#only };
    for (;;) {
      try {
        const { leases } = await link.call("claim", { body }, { wait_ms: limits.claim_wait_ms, signal });
        this.#warned.clear();
        if (leases.length > 0) return leases;
      } catch (error) {
        if (signal.aborted) return [];
        this.#warn(error);
        await pause(surroundings, limits.claim_pause_ms, signal).catch(() => {});
      }
      if (signal.aborted) return [];
    }
  }

  /** Once for each reason, until a claim succeeds. */
  #warn(error: unknown): void {
    const reason = error instanceof HandfastError ? error.reason : "claim_failed";
    if (this.#warned.has(reason)) return;
    this.#warned.add(reason);
    const message = `The worker ${this.#worker} gets no work, and goes on asking: ${messageOf(error)}`;
    this.#base.warn({ reason, message });
  }
}
