/**
 * Tells a worker at once when a lease that it got over this connection is over otherwise than by its own act. Being woken
 * only means to look; looking costs a look into the engine's memory. A worker that misses a notice learns the same from
 * the answer to its next beat.
 */

import { type Handoff, hasEnded, liveLease } from "@handfast/core";
import { type Engine, Passing, wakeKey } from "@handfast/engine";
import type { HeldLease } from "../../operations/operation.ts";

interface LeaseNotice extends HeldLease {
  readonly code: number;
  readonly reason: string;
  readonly detail: string;
}

interface Watched extends HeldLease {
  unsubscribe: () => void;
  /** Calls of this connection that may end it themselves, under way now. */
  acting: number;
}

/** Acts of a holder that end its lease, or with `ask` may. */
const endingActs: ReadonlySet<string> = new Set(["complete", "fail", "reject", "release", "ask"]);

interface LeaseWatchOptions {
  readonly engine: Pick<Engine, "get" | "remembered" | "wakeups">;
  readonly namespace: string;
  readonly most: number;
  readonly tell: (notice: LeaseNotice) => void;
}

export class LeaseWatch {
  readonly #options: LeaseWatchOptions;
  /** By the handoff's id: of its leases only the newest can be live. */
  readonly #leases = new Passing<string, Watched>();
  #is_over = false;

  constructor(options: LeaseWatchOptions) {
    this.#options = options;
  }

  hold(leases: readonly HeldLease[]): void {
    if (this.#is_over) return;
    for (const { id, fence } of leases) {
      const known = this.#leases.get(id);
      if (known !== undefined && known.fence >= fence) continue;
      if (known !== undefined) this.#forget(known);
      if (this.#leases.size < this.#options.most) this.#watch(id, fence);
    }
  }

  #watch(id: string, fence: number): void {
    const { engine, namespace } = this.#options;
    const watched: Watched = { id, fence, acting: 0, unsubscribe: () => {} };
    watched.unsubscribe = engine.wakeups.subscribe(wakeKey.handoff(namespace, id), () => this.#look(watched));
    this.#leases.set(id, watched);
    // It may have ended before anybody listened.
    this.#look(watched);
  }

  /** A call of the worker itself begins. Returns what to call when it is done; null where it ends no lease. */
  acting(op: string, id: unknown): ((succeeded: boolean) => void) | null {
    const watched = endingActs.has(op) && typeof id === "string" ? this.#leases.get(id) : undefined;
    if (watched === undefined) return null;
    watched.acting += 1;
    return (succeeded) => {
      watched.acting -= 1;
      if (succeeded && op !== "ask") this.#forget(watched);
      else this.#look(watched, succeeded);
    };
  }

  /** The connection is over: there is nobody to tell. */
  close(): void {
    this.#is_over = true;
    for (const watched of this.#leases.values()) watched.unsubscribe();
    this.#leases.clear();
  }

  #forget(watched: Watched): void {
    watched.unsubscribe();
    if (this.#leases.get(watched.id) === watched) this.#leases.delete(watched.id);
  }

  #look(watched: Watched, is_own_act = false): void {
    if (watched.acting > 0 || this.#leases.get(watched.id) !== watched) return;
    const { engine, namespace } = this.#options;
    const known = engine.remembered(namespace, watched.id);
    if (known !== undefined) return this.#judge(watched, known, is_own_act);
    engine.get(namespace, watched.id).then(
      (handoff) => this.#judge(watched, handoff, is_own_act),
      // A relay that stops, or whose store failed, has told its peers otherwise.
      () => {},
    );
  }

  #judge(watched: Watched, handoff: Handoff | null, is_own_act: boolean): void {
    if (watched.acting > 0 || this.#leases.get(watched.id) !== watched) return;
    if (handoff !== null && liveLease(handoff)?.fence === watched.fence) return;
    this.#forget(watched);
    if (handoff === null || is_own_act || isOwnEnd(handoff, watched.fence)) return;
    this.#options.tell({ id: watched.id, fence: watched.fence, ...whyOver(handoff, watched.fence) });
  }
}

/** The holder of this fence ended it itself, over another connection. */
function isOwnEnd({ status, failures }: Handoff, fence: number): boolean {
  if (hasEnded(status)) {
    const { outcome } = status;
    return status.state !== "canceled" && outcome.fence === fence && outcome.evidence !== "relay";
  }
  // What a worker said of its failure is kept by its digest; of one that was lost there is none.
  return failures.some((failure) => failure.fence === fence && failure.content !== null);
}

/** As the answer to a beat would say it. */
function whyOver({ accepted, status, failures }: Handoff, fence: number): Omit<LeaseNotice, keyof HeldLease> {
  const { id } = accepted;
  if (hasEnded(status) && status.state === "canceled") {
    const why = status.outcome.error?.message ?? "no reason was given";
    return { code: 410, reason: "canceled", detail: `Handoff ${id} was canceled: ${why}. Stop this work.` };
  }
  if (hasEnded(status) && status.state === "expired") {
    return { code: 408, reason: "deadline_passed", detail: `Handoff ${id} has expired. Stop this work.` };
  }
  const why = failures.find((failure) => failure.fence === fence)?.error.message ?? "it was given back or taken away";
  return {
    code: 412,
    reason: "lease_lost",
    detail: `Fence ${fence} of handoff ${id} is over: ${why}. Stop this work.`,
  };
}
