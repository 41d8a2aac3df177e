/**
 * The five clocks, kept a second time: whether something was taken away too early, whether its holder was still heard
 * after its time, and whether a clock ran out and nobody noticed.
 */

import type { Accepted, Duration, Time } from "@handfast/core";
import type { Scenario } from "../scenario/scenario.ts";
import type { Directory } from "../world/directory.ts";
import type { RelayTimes } from "../world/relay-times.ts";
import { ensure } from "./violation.ts";

export interface HeldLease {
  readonly fence: number;
  readonly agent: string;
  readonly worker: string;
  readonly delivered_at: Time;
  /** It goes on with an attempt that was already counted. */
  readonly continued: boolean;
  acknowledged_at: Time | null;
  heard_at: Time;
  unfit: number;
  /** The attempt clock: null while it stands still, and what it then has left. */
  attempt_until: Time | null;
  attempt_left_ms: Duration;
}

/** From when on a clock may strike, and when it must have struck. */
interface Due {
  readonly earliest: Time;
  readonly latest: Time;
}

export interface Witnessed {
  readonly directory: Directory;
  readonly times: RelayTimes;
  readonly scenario: Scenario;
}

/** How late the relay's timers may be without an excuse: a sweep's pause, the pulse, a batch. */
export const timer_slack_ms: Duration = 3_000;

export class ClockWitness {
  readonly #accepted: Accepted;
  readonly #directory: Directory;
  readonly #times: RelayTimes;
  readonly #pulse_ms: Duration;
  readonly #default_attempt_ms: Duration;

  constructor(accepted: Accepted, { directory, times, scenario }: Witnessed) {
    this.#accepted = accepted;
    this.#directory = directory;
    this.#times = times;
    this.#pulse_ms = scenario.limits.pulse_ms;
    this.#default_attempt_ms = scenario.coreLimits.default_attempt_ms;
  }

  /** How long an attempt of this agent may run. */
  attemptOf(agent: string): Duration {
    return this.#accepted.terms.attempt_ms ?? this.#directory.agent(agent).attempt_ms ?? this.#default_attempt_ms;
  }

  untilAck(lease: HeldLease): boolean {
    return this.#accepted.terms.retry === "until_ack" || !this.#directory.agent(lease.agent).idempotent;
  }

  /** The relay surely was away since then: what was lost for it counts for nothing. */
  excuses(since: Time, at: Time): boolean {
    return since < this.#times.lastResumed(at);
  }

  notAcknowledged(lease: HeldLease, at: Time): void {
    const { ack_ms } = this.#accepted.terms;
    this.#ensure(at >= lease.delivered_at + ack_ms, "the ack clock runs its time", () => `at ${at}`);
    const { earliest } = this.#ackDue(lease, at);
    this.#ensure(at >= earliest, "no delivery is lost for the relay's absence", () => `at ${at}, before ${earliest}`);
  }

  leaseRanOut(lease: HeldLease, at: Time): void {
    const { lease_ms } = this.#accepted.terms;
    this.#ensure(
      at >= lease.heard_at + lease_ms,
      "a lease is lost only without a beat",
      () => `fence ${lease.fence} lost at ${at}, heard of at ${lease.heard_at}`,
    );
    const { earliest } = this.#leaseDue(lease, at);
    this.#ensure(at >= earliest, "no lease is lost for the relay's absence", () => `at ${at}, before ${earliest}`);
  }

  attemptRanOut(lease: HeldLease, at: Time): void {
    this.#ensure(lease.attempt_until !== null, "the attempt clock starts with the ack", () => `at ${at}`);
    const { earliest } = this.#attemptDue(lease, at);
    this.#ensure(at >= earliest, "the attempt clock runs its time", () => `over at ${at}, due at ${earliest}`);
  }

  acknowledgesInTime(lease: HeldLease, at: Time): void {
    const { latest } = this.#ackDue(lease, at);
    this.#ensure(at < latest, "time decides, not the timer", () => `acknowledged at ${at}, due before ${latest}`);
  }

  /** Its holder acts: neither its lease nor its attempt may be over. */
  holdsInTime(lease: HeldLease, act: string, at: Time): void {
    const lost = this.#leaseDue(lease, at).latest;
    this.#ensure(at < lost, "time decides, not the timer", () => `${act} at ${at}, its lease was over at ${lost}`);
    if (lease.attempt_until === null) return;
    const over = this.#attemptDue(lease, at).latest;
    this.#ensure(at < over, "the attempt clock ends the attempt", () => `${act} at ${at}, over at ${over}`);
  }

  /** Something happens to it while a clock runs: had that clock struck before, it would have been noticed. */
  queueNotMissed(queue_until: Time, at: Time): void {
    this.#notMissed("queue", queue_until, at);
  }
  ackNotMissed(lease: HeldLease, at: Time): void {
    this.#notMissed("ack", this.#ackDue(lease, at).latest, at);
  }
  leaseNotMissed(lease: HeldLease, at: Time): void {
    this.#notMissed("lease", this.#leaseDue(lease, at).latest, at);
    if (lease.attempt_until !== null) this.#notMissed("attempt", this.#attemptDue(lease, at).latest, at);
  }
  questionNotMissed(answer_by: Time, at: Time): void {
    this.#notMissed("question", answer_by, at);
  }
  deadlineNotMissed(at: Time): void {
    this.#notMissed("deadline", this.#accepted.deadline_at, at);
  }

  #notMissed(clock: string, due: Time, at: Time): void {
    const late_ms = at - due;
    this.#ensure(
      late_ms <= timer_slack_ms || late_ms <= timer_slack_ms + this.#times.awayWithin(due, at),
      "no clock is missed",
      () => `the ${clock} clock struck at ${due}, noticed at ${at}, away ${this.#times.awayWithin(due, at)} ms`,
    );
  }

  #ackDue({ delivered_at }: HeldLease, at: Time): Due {
    const { ack_ms, lease_ms } = this.#accepted.terms;
    return this.#extended(delivered_at + ack_ms, delivered_at, Math.max(ack_ms, lease_ms), at);
  }

  #leaseDue({ heard_at }: HeldLease, at: Time): Due {
    const { lease_ms } = this.#accepted.terms;
    return this.#extended(heard_at + lease_ms, heard_at, lease_ms, at);
  }

  #attemptDue({ attempt_until, delivered_at }: HeldLease, at: Time): Due {
    const until = attempt_until ?? Number.POSITIVE_INFINITY;
    return this.#extended(until, delivered_at, this.#accepted.terms.lease_ms, at);
  }

  /** After each absence since then, a full period more. */
  #extended(due: Time, since: Time, period_ms: Duration, at: Time): Due {
    const surely = this.#times.lastResumed(at);
    const possibly = this.#times.lastPossiblyResumed(at);
    return {
      earliest: since < surely ? Math.max(due, surely + period_ms) : due,
      latest: since < possibly + this.#pulse_ms ? Math.max(due, possibly + this.#pulse_ms + period_ms) : due,
    };
  }

  #ensure(holds: boolean, invariant: Parameters<typeof ensure>[1], message: () => string): void {
    ensure(holds, invariant, this.#accepted.id, message);
  }
}
