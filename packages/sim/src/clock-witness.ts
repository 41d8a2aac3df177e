/** Whether a lease or an attempt was rightly taken away: its clock ran its whole time, and the relay was there to see it. */

import { type Accepted, coreLimits, type Time } from "@handfast/core";
import type { Directory } from "./directory.ts";
import type { RelayTimes } from "./relay-times.ts";
import { ensure } from "./violation.ts";

export interface HeldLease {
  readonly fence: number;
  readonly agent: string;
  readonly worker: string;
  readonly delivered_at: Time;
  acknowledged_at: Time | null;
  /** The attempt began under an earlier fence: how long this one may run is not checked. */
  readonly continued: boolean;
  heard_at: Time;
  unfit: number;
}

export class ClockWitness {
  readonly #accepted: Accepted;
  readonly #directory: Directory;
  readonly #times: RelayTimes;

  constructor(accepted: Accepted, { directory, times }: { readonly directory: Directory; readonly times: RelayTimes }) {
    this.#accepted = accepted;
    this.#directory = directory;
    this.#times = times;
  }

  notAcknowledged(lease: HeldLease, at: Time): void {
    const { ack_ms } = this.#accepted.terms;
    this.#ensure(at >= lease.delivered_at + ack_ms, "the ack clock runs its time", `at ${at}`);
    this.#afterResumption(lease.delivered_at, at, "no delivery is lost for the relay's absence");
  }

  leaseRanOut(lease: HeldLease, at: Time): void {
    const { lease_ms } = this.#accepted.terms;
    this.#ensure(
      at >= lease.heard_at + lease_ms,
      "a lease is lost only without a beat",
      `fence ${lease.fence} lost at ${at}, heard of at ${lease.heard_at}`,
    );
    this.#afterResumption(lease.delivered_at, at, "no lease is lost for the relay's absence");
  }

  attemptRanOut(lease: HeldLease, at: Time): void {
    const began = lease.acknowledged_at;
    this.#ensure(began !== null, "the attempt clock starts with the ack", `at ${at}`);
    if (began === null || lease.continued) return;
    const manifest = this.#directory.agent(lease.agent).attempt_ms;
    const longest = this.#accepted.terms.attempt_ms ?? manifest ?? coreLimits.default_attempt_ms;
    this.#ensure(at >= began + longest, "the attempt clock runs its time", `over at ${at}, began at ${began}`);
  }

  untilAck(lease: HeldLease): boolean {
    return this.#accepted.terms.retry === "until_ack" || !this.#directory.agent(lease.agent).idempotent;
  }

  #afterResumption(delivered_at: Time, at: Time, invariant: string): void {
    const resumed_at = this.#times.lastResumed(at);
    if (delivered_at >= resumed_at) return;
    const { lease_ms } = this.#accepted.terms;
    this.#ensure(at >= resumed_at + lease_ms, invariant, `at ${at}, resumed at ${resumed_at}`);
  }

  #ensure(holds: boolean, invariant: string, message: string): void {
    ensure(holds, invariant, this.#accepted.id, message);
  }
}
