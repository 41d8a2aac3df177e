/** Claims: workers that ask for work, wait for it, and ask again when an answer was lost. */

import { type Handoff, liveLease, type Time } from "@handfast/core";
import type { Batch } from "./batch.ts";
import type { Holder, Job, Planned } from "./jobs.ts";
import type { EngineOptions } from "./options.ts";
import type { Claim } from "./requests.ts";
import type { Surroundings } from "./surroundings.ts";
import type { WaitingClaim, Workers } from "./workers.ts";

type ReadHeld = (holder: Holder) => Promise<readonly Handoff[]>;

export class Claims {
  readonly #workers: Workers;
  readonly #surroundings: Surroundings;
  readonly #now: () => Time;
  /** Null: only this node leases, and knows what a worker holds. Otherwise that is on disk, not here. */
  readonly #readHeld: ReadHeld | null;
  readonly #onClaim: EngineOptions["onClaim"];

  constructor(
    workers: Workers,
    surroundings: Surroundings,
    now: () => Time,
    readHeld: ReadHeld | null,
    onClaim: EngineOptions["onClaim"],
  ) {
    this.#workers = workers;
    this.#surroundings = surroundings;
    this.#now = now;
    this.#readHeld = readHeld;
    this.#onClaim = onClaim;
  }

  /** Resolves when something was leased, the wait is over, or the caller is gone. */
  wait(claim: Claim, enqueue: (job: Job) => void): Promise<readonly Handoff[]> {
    const began = performance.now();
    return new Promise((resolve, reject) => {
      let over = false;
      let cancelTimer: () => void = () => {};
      const end = (act: () => void) => {
        if (over) return;
        over = true;
        cancelTimer();
        claim.signal?.removeEventListener("abort", goneAway);
        this.#workers.remove(waiting, this.#now());
        act();
      };
      const waiting: WaitingClaim = {
        claim,
        queues: new Set(),
        since: this.#now(),
        given: [],
        group: null,
        overdue: false,
        finish: (leases) => end(() => resolve(leases)),
        fail: (error) => end(() => reject(error)),
      };
      // While a batch is giving it something, only that batch may end the claim.
      const giveUp = () => {
        waiting.overdue = true;
        if (waiting.given.length === 0) waiting.finish([]);
      };
      // Nobody hears the answer: the worker stops or dies, unless it asks again soon.
      const goneAway = () => {
        giveUp();
        this.#workers.left(claim, this.#now());
      };
      if (claim.wait_ms > 0) cancelTimer = this.#surroundings.schedule(claim.wait_ms, giveUp);
      claim.signal?.addEventListener("abort", goneAway);
      if (claim.signal?.aborted) return goneAway();
      const ask = (held: readonly Handoff[] | null) =>
        enqueue({
          class: "urgent",
          bytes: 0,
          wants: this.#readHeld !== null && held === null ? [{ holder: claim }] : [],
          decide: (batch) => {
            const { units, answer } = this.#plan(batch, waiting, held, () => over);
            const settle = () => {
              answer();
              this.#onClaim?.(performance.now() - began);
            };
            return { units, answer: settle };
          },
          fail: waiting.fail,
        });
      if (this.#readHeld === null) return ask(null);
      // Read before its batch is made, so that nobody else's answer waits for it. Where that fails the batch reads, and finds out why.
      this.#readHeld(claim).then(ask, () => ask(null));
    });
  }

  /** Gives each claim what was committed for it. */
  handOver(served: ReadonlySet<WaitingClaim>): void {
    for (const waiting of served) {
      const leases = waiting.given.filter(({ unit }) => unit.result === "ok").map(({ handoff }) => handoff);
      waiting.given = [];
      if (leases.length === 0) {
        if (waiting.overdue) waiting.finish([]);
        continue;
      }
      const ids = leases.map(({ accepted }) => accepted.id);
      this.#workers.rememberAnswer(waiting.claim, ids);
      waiting.finish(leases);
    }
  }

  /** A commit failed: whoever was being given something must ask again. */
  failGiven(fault: Error): void {
    for (const waiting of [...this.#workers.waiting]) {
      if (waiting.given.length === 0) continue;
      waiting.given = [];
      waiting.fail(fault);
    }
  }

  failAll(fault: Error): void {
    for (const waiting of [...this.#workers.waiting]) waiting.fail(fault);
  }

  /** The relay stops: those that wait get an empty answer. */
  endWaits(): void {
    for (const waiting of [...this.#workers.waiting]) if (waiting.given.length === 0) waiting.finish([]);
  }

  /** A repeated request gets the same leases; a new one joins those that wait and takes part in this batch's dispatch. */
  #plan(batch: Batch, waiting: WaitingClaim, held: readonly Handoff[] | null, isOver: () => boolean): Planned {
    const { claim } = waiting;
    // Given up while it was being read what its worker holds: it may have asked again since.
    if (isOver()) return { units: [], answer: () => {} };
    const was_gone = this.#workers.hasLeft(claim);
    waiting.queues = claim.queues();
    this.#workers.seen(claim, waiting.queues, batch.now);
    if (this.#readHeld !== null || !this.#workers.isRecalled(claim)) this.#recall(claim, held ?? batch.held(claim));
    const same = this.#stillHeld(batch, claim);
    if (same.length > 0) {
      this.#workers.toldAgain(same);
      // What came after it in this batch may have ended some of these leases, or given the work anew under another fence.
      const lives = (handoff: Handoff) => liveLease(batch.latest(handoff))?.fence === handoff.fence;
      return { units: [], answer: () => waiting.finish(same.filter(lives)) };
    }
    const before = this.#workers.sameRequest(claim);
    before?.finish([]);
    this.#workers.takesBack(claim, claim.wait_ms === 0 && (before !== undefined || was_gone));
    if (!isOver()) this.#workers.add(waiting);
    const answer = () => {
      if (claim.wait_ms > 0 || waiting.given.length > 0) return;
      waiting.finish([]);
      if (this.#workers.isTakingBack(claim)) this.#workers.left(claim, batch.now);
    };
    return { units: [], answer };
  }

  #stillHeld(batch: Batch, claim: Claim): readonly Handoff[] {
    const held: Handoff[] = [];
    for (const id of this.#workers.answeredWith(claim) ?? []) {
      const handoff = batch.sure(claim.namespace, id);
      if (handoff !== null && holds(handoff, claim)) held.push(handoff);
    }
    return held;
  }

  /** Leases that this worker held before the relay's start, by the request that got them. */
  #recall(claim: Claim, held: readonly Handoff[]): void {
    const { namespace, agent, worker } = claim;
    this.#workers.recalled(claim);
    for (const [request_id, handoffs] of Map.groupBy(held, (handoff) => liveLease(handoff)?.request_id ?? "")) {
      const request = { namespace, agent, worker, request_id };
      this.#workers.rememberAnswer(
        request,
        handoffs.map(({ accepted }) => accepted.id),
      );
    }
  }
}

function holds(handoff: Handoff, { agent, worker, request_id }: Claim): boolean {
  const lease = liveLease(handoff);
  return lease?.agent === agent && lease.worker === worker && lease.request_id === request_id;
}
