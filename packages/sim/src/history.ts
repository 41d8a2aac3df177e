/**
 * One handoff's events, replayed without core's help: what state they add up to, and whether each was justified by what
 * came before and by what the actors really said. Core decides forwards; this asks backwards: could this have happened?
 */

import { type Accepted, coreLimits, type Duration, type HandoffEvent, type State, type Time } from "@handfast/core";
import { Aftermath } from "./aftermath.ts";
import { ClockWitness, type HeldLease } from "./clock-witness.ts";
import type { Directory } from "./directory.ts";
import type { RelayTimes } from "./relay-times.ts";
import type { Said } from "./said.ts";
import { ensure, Violation } from "./violation.ts";

type Of<Type extends HandoffEvent["type"]> = Extract<HandoffEvent, { type: Type }>;
type EndEvent = Of<"completed" | "failed" | "rejected" | "canceled" | "expired">;

export interface HistoryContext {
  readonly said: Said;
  readonly directory: Directory;
  readonly times: RelayTimes;
  /** How many of its lane were accepted before and are open. */
  readonly ahead: (history: History) => number;
  readonly hasEnded: (id: string) => boolean;
}

/** How late the relay's timers may be without an excuse: a sweep's pause, the pulse, a batch. */
export const timer_slack_ms: Duration = 3_000;

const endStates: ReadonlySet<string> = new Set(["completed", "failed", "rejected", "canceled", "expired"]);

export class History {
  readonly accepted: Accepted;
  readonly #context: HistoryContext;
  readonly #clocks: ClockWitness;
  readonly #aftermath: Aftermath;
  seq = 0;
  state: State = "queued";
  fence = 0;
  lease: HeldLease | null = null;
  end: EndEvent | null = null;
  readonly excluded: Set<string>;
  /** Who held which fence. */
  readonly holders = new Map<number, { readonly agent: string; readonly worker: string }>();
  /** Outcomes that ended an attempt or the handoff, by fence. */
  readonly outcomes = new Map<number, string>();
  readonly late = new Set<number>();
  #ready_at: Time;
  #unacknowledged = 0;
  #lostAttempts = 0;
  #continues = false;
  #question: { readonly id: string; readonly answer_by: Time } | null = null;

  constructor(accepted: Accepted, excluded: readonly string[], context: HistoryContext) {
    this.accepted = accepted;
    this.#context = context;
    this.#clocks = new ClockWitness(accepted, context);
    this.#aftermath = new Aftermath(accepted.id);
    this.excluded = new Set(excluded);
    this.#ready_at = accepted.accepted_at;
  }

  get hasEnded(): boolean {
    return endStates.has(this.state);
  }

  get taken(): boolean {
    return this.#aftermath.taken;
  }

  /** The holder was heard of: a beat was answered. */
  beat(fence: number, at: Time): void {
    if (this.lease?.fence === fence) this.lease.heard_at = Math.max(this.lease.heard_at, at);
  }

  /** The relay's clock went on from here: beats were only in memory, and with them the time they were heard at. */
  relayStarted(now: Time): void {
    if (this.lease !== null) this.lease.heard_at = Math.min(this.lease.heard_at, now);
  }

  add(event: HandoffEvent): void {
    const { accepted } = this;
    this.seq += 1;
    this.#ensure(event.seq === this.seq, "seq is dense", `event ${event.type} has seq ${event.seq}, not ${this.seq}`);
    this.#ensure(
      event.correlation_id === accepted.correlation_id && event.causation_id === (accepted.causation?.id ?? null),
      "correlation ids are preserved",
      `${event.type} says ${event.correlation_id} under ${event.causation_id}`,
    );
    this.#fold(event);
  }

  #fold(event: HandoffEvent): void {
    switch (event.type) {
      case "accepted":
        return this.#ensure(event.seq === 1, "accepted once", "accepted again");
      case "delivered":
        return this.#delivered(event);
      case "acknowledged":
        return this.#acknowledged(event);
      case "checkpointed":
        this.#holds(event);
        return this.#wasSaid(["checkpoint"], event);
      case "asked":
        this.#holds(event);
        this.#wasSaid(["ask"], event);
        this.#question = { id: event.question, answer_by: event.answer_by };
        this.state = "waiting";
        if (event.parked) this.#park();
        return;
      case "answered":
        this.#in("waiting", event.type);
        this.#ensure(this.#question?.id === event.question, "one open question", `${event.question} is not open`);
        this.#ensure(
          event.at < (this.#question?.answer_by ?? 0),
          "an answer after its time is refused",
          event.question,
        );
        if (this.lease !== null) this.state = "working";
        this.#question = null;
        return;
      case "unanswered":
        this.#in("waiting", event.type);
        this.#ensure(
          this.#question !== null && event.at >= this.#question.answer_by,
          "no question closes before its time",
          `question ${event.question} closed at ${event.at}`,
        );
        if (this.lease !== null) this.state = "working";
        return;
      case "parked": {
        const lease = this.#holds(event);
        this.#in("waiting", event.type);
        const released = this.#context.said.any(["release"], this.accepted.id, lease.fence, lease.agent);
        if (!released) this.#clocks.leaseRanOut(lease, event.at);
        return this.#park();
      }
      case "requeued":
        return this.#requeued(event);
      case "unblocked":
        this.#in("queued", event.type);
        this.#ensure(this.#context.ahead(this) === 0, "order per key", "unblocked behind an open one");
        this.#ready_at = event.at;
        return;
      case "excluded":
        this.#in("queued", event.type);
        this.excluded.add(event.agent);
        return;
      case "unfit_output":
        this.#holds(event).unfit += 1;
        return this.#wasSaid(["complete"], event);
      case "completed":
      case "failed":
      case "rejected":
      case "canceled":
      case "expired":
        return this.#ended(event);
      case "late":
        return this.#late(event);
      case "taken":
      case "redriven":
      case "discarded":
      case "routed":
      case "purged":
        return this.#aftermath.add(event, this.state);
      default:
        throw new Error(`unreachable event ${JSON.stringify(event satisfies never)}`);
    }
  }

  get purged(): boolean {
    return this.#aftermath.purged;
  }

  #delivered(event: Of<"delivered">): void {
    const { accepted } = this;
    this.#in("queued", event.type);
    this.#ensure(event.fence === this.fence + 1, "fences only grow", `fence ${event.fence} after ${this.fence}`);
    this.#ensure(!this.excluded.has(event.agent), "an excluded agent never gets it again", event.agent);
    this.#ensure(event.at < accepted.deadline_at, "nothing is delivered after the deadline", `at ${event.at}`);
    this.#ensure(event.at >= this.#ready_at, "nothing is delivered before its time", `at ${event.at}`);
    this.#ensure(
      this.#context.ahead(this) === 0,
      "order per key",
      `delivered behind ${this.#context.ahead(this)} open`,
    );
    const fits =
      accepted.to === null
        ? this.#context.directory.offering(accepted.capability).some(({ name }) => name === event.agent)
        : accepted.to === event.agent;
    this.#ensure(fits, "delivered only to those it is for", event.agent);
    this.fence = event.fence;
    this.lease = {
      fence: event.fence,
      agent: event.agent,
      worker: event.worker,
      delivered_at: event.at,
      acknowledged_at: null,
      continued: this.#continues,
      heard_at: event.at,
      unfit: 0,
    };
    this.holders.set(event.fence, this.lease);
    this.state = "delivered";
  }

  #acknowledged(event: Of<"acknowledged">): void {
    const lease = this.#holds(event);
    this.#in("delivered", event.type);
    this.#ensure(event.worker === lease.worker, "only the holder acknowledges", event.worker);
    this.#wasSaid(["ack", "checkpoint", "ask", "complete", "fail"], event);
    const { max_attempts } = this.accepted.terms;
    this.#ensure(
      event.attempt >= 1 && event.attempt <= max_attempts,
      "attempts are bounded",
      `attempt ${event.attempt}`,
    );
    lease.acknowledged_at = event.at;
    lease.heard_at = event.at;
    this.#continues = false;
    this.state = "working";
  }

  #requeued(event: Of<"requeued">): void {
    if (event.why === "answered") {
      this.#in("waiting", "requeued after an answer");
      this.#ensure(this.lease === null && this.#question === null, "an answer resumes the holder", "requeued instead");
    } else {
      const lease = this.#live(event.type);
      this.#ensure(
        event.fence === lease.fence && event.agent === lease.agent,
        "a stale fence changes nothing",
        event.why,
      );
      this.#justifyRequeue(event, lease);
    }
    this.#ready_at = event.ready_at;
    this.lease = null;
    this.#question = null;
    this.state = "queued";
  }

  #justifyRequeue(event: Of<"requeued">, lease: HeldLease): void {
    switch (event.why) {
      case "unacknowledged":
        this.#in("delivered", event.why);
        this.#clocks.notAcknowledged(lease, event.at);
        this.#unacknowledged += 1;
        return;
      case "lease_lost":
        this.#in("working", event.why);
        this.#clocks.leaseRanOut(lease, event.at);
        this.#ensure(!this.#clocks.untilAck(lease), "until_ack: never a second attempt", event.why);
        this.#lostAttempts += 1;
        return;
      case "attempt_timeout":
        this.#in("working", event.why);
        this.#clocks.attemptRanOut(lease, event.at);
        this.#ensure(!this.#clocks.untilAck(lease), "until_ack: never a second attempt", event.why);
        this.#lostAttempts += 1;
        return;
      case "failed":
        this.#wasSaid(["fail"], lease);
        this.#ensure(!this.#clocks.untilAck(lease), "until_ack: never a second attempt", event.why);
        this.#lostAttempts += 1;
        this.outcomes.set(lease.fence, "");
        return;
      case "rejected":
        this.#wasSaid(["reject"], lease);
        this.excluded.add(lease.agent);
        this.outcomes.set(lease.fence, "");
        this.#continues = false;
        return;
      case "released":
        return this.#wasSaid(["release"], lease);
      case "answered":
        return;
      default:
        throw new Error(`unreachable reason ${JSON.stringify(event.why satisfies never)}`);
    }
  }

  #ended(event: EndEvent): void {
    const { accepted } = this;
    this.#ensure(!this.hasEnded, "exactly one terminal state", `${event.type} after ${this.state}`);
    if (event.type !== "expired" || event.code !== 408) {
      this.#ensure(event.at < accepted.deadline_at, "time decides, not the timer", `${event.type} after the deadline`);
    }
    const late_ms = event.at - accepted.deadline_at;
    const excused_ms = this.#context.times.awayWithin(accepted.deadline_at, event.at) + timer_slack_ms;
    this.#ensure(late_ms <= excused_ms, "nothing ends after its deadline", `${late_ms} ms late, ${excused_ms} excused`);
    this.#justifyEnd(event);
    this.end = event;
    this.lease = null;
    this.#question = null;
    this.state = event.type;
  }

  #justifyEnd(event: EndEvent): void {
    const { said, directory } = this.#context;
    const { id, from, terms, causation } = this.accepted;
    const { code, at } = event;
    switch (event.type) {
      case "completed": {
        this.#holds(event);
        const types = this.accepted.kind === "notice" ? ["ack", "complete"] : ["complete"];
        return this.#wasSaid(types, event);
      }
      case "canceled": {
        const parent = causation !== null && this.#context.hasEnded(causation.id);
        const asked = said.any(["cancel"], id, null, from);
        return this.#ensure(asked || (parent && !this.accepted.detached), "canceled only when asked", `by ${event.by}`);
      }
      case "expired":
        if (code === 408) return this.#ensure(at >= this.accepted.deadline_at, "408 only at the deadline", `at ${at}`);
        this.#in("queued", "503");
        this.#ensure(code === 503 && this.#context.ahead(this) === 0, "503 only for what is ready", `code ${code}`);
        return this.#ensure(at >= this.#ready_at + terms.queue_ms, "503 only after the queue clock", `at ${at}`);
      case "rejected": {
        const by = event.agent ?? "";
        if (event.evidence !== "relay") {
          this.#wasSaid(["reject"], event);
          this.excluded.add(by);
        }
        const left = directory.others({ accepted: this.accepted, excluded: [...this.excluded] });
        return this.#ensure(code === 501 && left === 0, "501 only when nobody is left", `${left} left after ${by}`);
      }
      case "failed":
        return this.#justifyFailed(event);
      default:
        throw new Error(`unreachable end ${JSON.stringify(event.type satisfies never)}`);
    }
  }

  #justifyFailed(event: EndEvent): void {
    const { at, code } = event;
    const { max_deliveries } = this.accepted.terms;
    if (code === 408) {
      this.#in("waiting", "408 of a question");
      return this.#ensure(
        this.lease === null && this.#question !== null && at >= this.#question.answer_by,
        "a parked question fails only unanswered",
        `at ${at}`,
      );
    }
    const lease = this.#live("failed");
    this.#ensure(event.fence === lease.fence, "a stale fence changes nothing", `failed under ${event.fence}`);
    switch (code) {
      case 504:
        this.#in("delivered", "504");
        this.#clocks.notAcknowledged(lease, at);
        return this.#ensure(
          this.#unacknowledged + 1 >= max_deliveries,
          "504 only after enough unacknowledged deliveries",
          `after ${this.#unacknowledged + 1} of ${max_deliveries}`,
        );
      case 521:
        this.#clocks.leaseRanOut(lease, at);
        return this.#noAttemptLeft(lease, at, 0);
      case 502:
        return this.#ensure(
          lease.unfit > coreLimits.max_unfit_outputs,
          "502 only after unfit outputs",
          `after ${lease.unfit}`,
        );
      case 500: {
        const longest = coreLimits.backoff_most_ms;
        if (event.evidence === "relay") {
          this.#clocks.attemptRanOut(lease, at);
          return this.#noAttemptLeft(lease, at, longest);
        }
        this.#wasSaid(["fail"], event);
        this.outcomes.set(lease.fence, "");
        if (this.#context.said.act("fail", this.accepted.id, lease.fence, lease.agent)?.retryable === true) {
          this.#noAttemptLeft(lease, at, longest);
        }
        return;
      }
      default:
        throw new Violation("codes are of the table", this.accepted.id, `failed with ${code}`);
    }
  }

  #noAttemptLeft(lease: HeldLease, at: Time, delay_ms: Duration): void {
    const { max_attempts } = this.accepted.terms;
    const spent = this.#lostAttempts + 1 >= max_attempts;
    const tooLate = delay_ms > 0 && at + delay_ms >= this.accepted.deadline_at;
    this.#ensure(
      spent || tooLate || this.#clocks.untilAck(lease),
      "no dead letter while an attempt is left",
      `${this.#lostAttempts + 1} of ${max_attempts} attempts were lost`,
    );
  }

  #late(event: Of<"late">): void {
    const holder = this.holders.get(event.fence);
    this.#ensure(holder?.agent === event.agent, "late outcomes come from holders", `fence ${event.fence}`);
    this.#ensure(!this.late.has(event.fence), "one late outcome per fence", `fence ${event.fence}`);
    this.#ensure(this.lease?.fence !== event.fence, "late only after the lease", `fence ${event.fence}`);
    this.#wasSaid(["complete", "fail", "reject"], event);
    this.late.add(event.fence);
  }

  #park(): void {
    this.lease = null;
    this.#continues = true;
  }

  #live(act: string): HeldLease {
    if (this.lease === null) throw new Violation("a stale fence changes nothing", this.accepted.id, `${act}: no lease`);
    return this.lease;
  }

  #holds(event: { readonly fence: number | null; readonly agent: string | null; readonly type: string }): HeldLease {
    const lease = this.#live(event.type);
    this.#ensure(
      lease.fence === event.fence && lease.agent === event.agent,
      "a stale fence changes nothing",
      `${event.type} by ${event.agent} under ${event.fence}, held by ${lease.agent} under ${lease.fence}`,
    );
    return lease;
  }

  #wasSaid(types: readonly string[], by: { readonly fence: number | null; readonly agent: string | null }): void {
    const said = this.#context.said.any(types, this.accepted.id, by.fence, by.agent ?? "");
    this.#ensure(said, "the relay tells only what was said", `${by.agent} never said ${types} under ${by.fence}`);
  }

  #in(state: State, act: string): void {
    this.#ensure(this.state === state, "transitions are those of the design", `${act} while ${this.state}`);
  }

  #ensure(holds: boolean, invariant: string, message: string): void {
    ensure(holds, invariant, this.accepted.id, message);
  }
}
