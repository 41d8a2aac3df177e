/**
 * One handoff's events, replayed without core's help: what state they add up to, and whether each was justified by what
 * came before and by what the actors really said. Core decides forwards; this asks backwards: could this have happened?
 */

import type { Accepted, Duration, HandoffEvent, State, Time } from "@handfast/core";
import type { Said } from "../actors/said.ts";
import { Aftermath } from "./aftermath.ts";
import { ClockWitness, type HeldLease, type Witnessed } from "./clock-witness.ts";
import { type EndEvent, justifyEnd } from "./ends.ts";
import type { Invariant } from "./invariants.ts";
import { justifyRequeue } from "./requeues.ts";
import { ensure, ensureThere } from "./violation.ts";

type Of<Type extends HandoffEvent["type"]> = Extract<HandoffEvent, { type: Type }>;

export interface HistoryContext extends Witnessed {
  readonly said: Said;
  /** How many of its lane were accepted before and are open. */
  readonly ahead: (history: History) => number;
  readonly hasEnded: (id: string) => boolean;
}

export class History {
  readonly accepted: Accepted;
  readonly context: HistoryContext;
  readonly clocks: ClockWitness;
  readonly #aftermath: Aftermath;
  seq = 0;
  state: State = "queued";
  /** Behind an open one of its lane. */
  blocked: boolean;
  /** Not to be delivered before; its queue clock runs from here. */
  ready_at: Time;
  fence = 0;
  lease: HeldLease | null = null;
  question: { readonly id: string; readonly answer_by: Time } | null = null;
  end: EndEvent | null = null;
  readonly excluded: Set<string>;
  /** Who held which fence. */
  readonly holders = new Map<number, { readonly agent: string; readonly worker: string }>();
  /** Fences under which an outcome ended an attempt or the handoff. */
  readonly outcomes = new Set<number>();
  readonly late = new Set<number>();
  /** What the last checkpoint was, and its number. */
  checkpoint: { readonly number: number; readonly sha256: string } | null = null;
  readonly acknowledged = new Set<number>();
  /** Every question in turn, with its answer. */
  readonly questions = new Map<string, string | null>();
  /** Deliveries and attempts that count, without those that the relay's absence excuses. */
  unacknowledged = 0;
  lostAttempts = 0;
  /** What an attempt has left that goes on under another lease. */
  #continues_ms: Duration | null = null;

  constructor(accepted: Accepted, excluded: readonly string[], blocked: boolean, context: HistoryContext) {
    this.accepted = accepted;
    this.context = context;
    this.clocks = new ClockWitness(accepted, context);
    this.#aftermath = new Aftermath(accepted.id, context.scenario.coreLimits, context.times);
    this.excluded = new Set(excluded);
    this.blocked = blocked;
    this.ready_at = accepted.accepted_at;
  }

  get hasEnded(): boolean {
    return this.end !== null;
  }
  get taken(): boolean {
    return this.#aftermath.taken;
  }
  get purged(): boolean {
    return this.#aftermath.purged_at !== null;
  }
  get purged_at(): Time | null {
    return this.#aftermath.purged_at;
  }
  get settled_at(): Time | null {
    return this.#aftermath.settled_at;
  }

  /** The holder was heard of. */
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
    this.#ensure(event.seq === this.seq, "seq is dense", () => `${event.type} has seq ${event.seq}, not ${this.seq}`);
    this.#ensure(
      event.correlation_id === accepted.correlation_id && event.causation_id === (accepted.causation?.id ?? null),
      "correlation ids are preserved",
      () => `${event.type} says ${event.correlation_id} under ${event.causation_id}`,
    );
    if (this.end === null) this.#clocksNotMissed(event.at);
    this.#fold(event);
  }

  #clocksNotMissed(at: Time): void {
    const { clocks, lease, question } = this;
    clocks.deadlineNotMissed(at);
    if (this.state === "queued") {
      if (!this.blocked) clocks.queueNotMissed(this.ready_at + this.accepted.terms.queue_ms, at);
      return;
    }
    if (question !== null) clocks.questionNotMissed(question.answer_by, at);
    if (lease === null) return;
    if (lease.acknowledged_at === null) clocks.ackNotMissed(lease, at);
    else clocks.leaseNotMissed(lease, at);
  }

  #fold(event: HandoffEvent): void {
    switch (event.type) {
      case "accepted":
        return this.#ensure(event.seq === 1, "accepted once", () => "accepted again");
      case "delivered":
        return this.#delivered(event);
      case "acknowledged":
        return this.#acknowledged(event);
      case "checkpointed":
        return this.#checkpointed(event);
      case "asked":
        return this.#asked(event);
      case "answered":
        return this.#answered(event);
      case "unanswered":
        return this.#unanswered(event);
      case "parked":
        return this.#parked(event);
      case "requeued":
        return this.#requeued(event);
      case "unblocked":
        this.in("queued", event.type);
        this.#ensure(this.context.ahead(this) === 0, "order per key", () => "unblocked behind an open one");
        this.blocked = false;
        this.ready_at = event.at;
        return;
      case "excluded":
        this.in("queued", event.type);
        this.excluded.add(event.agent);
        return;
      case "unfit_output":
        this.acts(event, event.at).unfit += 1;
        return this.wasSaid(["complete"], event);
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
        this.#askedForBySender(event);
        return this.#aftermath.add(event, this.state, this.end?.at ?? 0);
      case "routed":
      case "purged":
        return this.#aftermath.add(event, this.state, this.end?.at ?? 0);
      default:
        throw new Error(`unreachable event ${JSON.stringify(event satisfies never)}`);
    }
  }

  #delivered(event: Of<"delivered">): void {
    const { accepted, context } = this;
    this.in("queued", event.type);
    this.#ensure(event.fence === this.fence + 1, "fences only grow", () => `fence ${event.fence} after ${this.fence}`);
    this.#ensure(!this.excluded.has(event.agent), "an excluded agent never gets it again", () => event.agent);
    this.#ensure(event.at < accepted.deadline_at, "nothing is delivered after the deadline", () => `at ${event.at}`);
    this.#ensure(event.at >= this.ready_at, "nothing is delivered before its time", () => `at ${event.at}`);
    this.#ensure(
      event.at < this.ready_at + accepted.terms.queue_ms,
      "time decides, not the timer",
      () => `delivered at ${event.at}, its queue clock ran from ${this.ready_at}`,
    );
    this.#ensure(context.ahead(this) === 0, "order per key", () => `delivered behind ${context.ahead(this)} open`);
    const fits =
      accepted.to === null
        ? context.directory.offering(accepted.capability).some(({ name }) => name === event.agent)
        : accepted.to === event.agent;
    this.#ensure(fits, "delivered only to those it is for", () => event.agent);
    this.fence = event.fence;
    this.lease = {
      fence: event.fence,
      agent: event.agent,
      worker: event.worker,
      delivered_at: event.at,
      continued: this.#continues_ms !== null,
      acknowledged_at: null,
      heard_at: event.at,
      unfit: 0,
      attempt_until: null,
      attempt_left_ms: this.#continues_ms ?? this.clocks.attemptOf(event.agent),
    };
    this.holders.set(event.fence, this.lease);
    this.state = "delivered";
  }

  #acknowledged(event: Of<"acknowledged">): void {
    const lease = this.holds(event);
    this.in("delivered", event.type);
    this.clocks.acknowledgesInTime(lease, event.at);
    this.#ensure(event.worker === lease.worker, "only the holder acknowledges", () => event.worker);
    this.wasSaid(["ack", "checkpoint", "ask", "complete", "fail"], event);
    this.#signedIfDemanded(event);
    const { max_attempts } = this.accepted.terms;
    this.#ensure(
      event.attempt >= 1 && event.attempt <= max_attempts,
      "attempts are bounded",
      () => `attempt ${event.attempt} of ${max_attempts}`,
    );
    this.acknowledged.add(event.fence);
    lease.acknowledged_at = event.at;
    lease.heard_at = event.at;
    lease.attempt_until = event.at + lease.attempt_left_ms;
    this.#continues_ms = null;
    this.state = "working";
  }

  #checkpointed(event: Of<"checkpointed">): void {
    this.acts(event, event.at);
    this.wasSaid(["checkpoint"], event);
    const number = (this.checkpoint?.number ?? 0) + 1;
    this.#ensure(event.number === number, "checkpoints are numbered", () => `${event.number}, not ${number}`);
    this.checkpoint = { number, sha256: event.state.sha256 };
  }

  #asked(event: Of<"asked">): void {
    const lease = this.acts(event, event.at);
    this.in("working", event.type);
    this.wasSaid(["ask"], event);
    this.#ensure(
      this.question === null && !this.questions.has(event.question),
      "one open question",
      () => `${event.question} beside ${this.question?.id}`,
    );
    this.questions.set(event.question, null);
    this.question = { id: event.question, answer_by: event.answer_by };
    this.state = "waiting";
    lease.attempt_left_ms = Math.max(1, (lease.attempt_until ?? event.at) - event.at);
    lease.attempt_until = null;
    if (event.parked) this.#park(lease);
  }

  #answered(event: Of<"answered">): void {
    const { said } = this.context;
    this.in("waiting", event.type);
    this.#ensure(this.question?.id === event.question, "one open question", () => `${event.question} is not open`);
    this.#ensure(
      event.at < (this.question?.answer_by ?? 0),
      "an answer after its time is refused",
      () => event.question,
    );
    this.#ensure(
      said.act("answer", this.accepted.id, null, event.by, event.answer.sha256) !== undefined,
      "the relay tells only what was said",
      () => `${event.by} never gave that answer`,
    );
    this.questions.set(event.question, event.answer.sha256);
    this.question = null;
    this.#resume(event.at);
  }

  #unanswered(event: Of<"unanswered">): void {
    this.in("waiting", event.type);
    const due = this.question?.answer_by ?? Number.POSITIVE_INFINITY;
    this.#ensure(event.at >= due, "no question closes before its time", () => `${event.question} at ${event.at}`);
    if (this.lease === null) return;
    this.question = null;
    this.#resume(event.at);
  }

  #resume(at: Time): void {
    if (this.lease === null) return;
    this.lease.attempt_until = at + this.lease.attempt_left_ms;
    this.state = "working";
  }

  #parked(event: Of<"parked">): void {
    const lease = this.holds(event);
    this.in("waiting", event.type);
    const released = this.context.said.any(["release"], this.accepted.id, lease.fence, lease.agent);
    if (!released) this.clocks.leaseRanOut(lease, event.at);
    this.#park(lease);
  }

  #park(lease: HeldLease): void {
    this.#continues_ms = lease.attempt_left_ms;
    this.lease = null;
  }

  #requeued(event: Of<"requeued">): void {
    if (event.why === "answered") {
      this.in("waiting", "requeued after an answer");
      this.#ensure(
        this.lease === null && this.question === null,
        "an answer resumes the holder",
        () => "requeued instead",
      );
    } else {
      const lease = this.live(event.type);
      this.#ensure(
        event.fence === lease.fence && event.agent === lease.agent,
        "a stale fence changes nothing",
        () => event.why,
      );
      justifyRequeue(this, event, lease);
      if (event.why === "rejected") this.#continues_ms = null;
    }
    this.ready_at = event.ready_at;
    this.lease = null;
    this.question = null;
    this.state = "queued";
  }

  #ended(event: EndEvent): void {
    const { accepted } = this;
    this.#ensure(!this.hasEnded, "exactly one terminal state", () => `${event.type} after ${this.state}`);
    if (event.type !== "expired" || event.code !== 408) {
      this.#ensure(
        event.at < accepted.deadline_at,
        "time decides, not the timer",
        () => `${event.type} at ${event.at}, after the deadline`,
      );
    }
    if (event.evidence !== "relay" && event.type !== "canceled") {
      this.acts(event, event.at);
      this.#signedIfDemanded(event);
      this.outcomes.add(event.fence ?? 0);
    }
    justifyEnd(this, event);
    this.end = event;
    this.lease = null;
    this.question = null;
    this.blocked = false;
    this.state = event.type;
  }

  #late(event: Of<"late">): void {
    const holder = this.holders.get(event.fence);
    this.#ensure(holder?.agent === event.agent, "late outcomes come from holders", () => `fence ${event.fence}`);
    this.#ensure(!this.late.has(event.fence), "one late outcome per fence", () => `fence ${event.fence}`);
    this.#ensure(this.lease?.fence !== event.fence, "late only after the lease", () => `fence ${event.fence}`);
    this.wasSaid(["complete", "fail", "reject"], event);
    this.late.add(event.fence);
  }

  #askedForBySender(event: Of<"taken" | "redriven" | "discarded">): void {
    const { id, from } = this.accepted;
    const type = ({ taken: "take", redriven: "redrive", discarded: "discard" } as const)[event.type];
    const mayAsk = event.by === from || event.by.startsWith("operator:");
    this.#ensure(
      mayAsk && (type === "redrive" || this.context.said.any([type], id, null, event.by)),
      "only its sender or an operator takes, redrives or discards",
      () => `${event.type} by ${event.by}`,
    );
  }

  /** The holder does something under its lease, which must be live at that time. */
  acts(
    event: { readonly fence: number | null; readonly agent: string | null; readonly type: string },
    at: Time,
  ): HeldLease {
    const lease = this.holds(event);
    if (lease.acknowledged_at === null) this.clocks.acknowledgesInTime(lease, at);
    else this.clocks.holdsInTime(lease, event.type, at);
    return lease;
  }

  #signedIfDemanded({ type, evidence }: Of<"acknowledged"> | EndEvent): void {
    const { demands } = this.accepted;
    this.#ensure(demands === "any" || evidence === "signed", "a demanded signature is given", () => type);
  }

  live(act: string): HeldLease {
    return ensureThere(this.lease, "a stale fence changes nothing", this.accepted.id, `${act}: no lease`);
  }

  holds(event: { readonly fence: number | null; readonly agent: string | null; readonly type: string }): HeldLease {
    const lease = this.live(event.type);
    this.#ensure(
      lease.fence === event.fence && lease.agent === event.agent,
      "a stale fence changes nothing",
      () => `${event.type} by ${event.agent} under ${event.fence}, held by ${lease.agent} under ${lease.fence}`,
    );
    return lease;
  }

  wasSaid(types: readonly string[], by: { readonly fence: number | null; readonly agent: string | null }): void {
    const said = this.context.said.any(types, this.accepted.id, by.fence, by.agent ?? "");
    this.#ensure(said, "the relay tells only what was said", () => `${by.agent} never said ${types} under ${by.fence}`);
  }

  in(state: State, act: string): void {
    this.#ensure(this.state === state, "transitions are those of the design", () => `${act} while ${this.state}`);
  }

  #ensure(holds: boolean, invariant: Invariant, message: () => string): void {
    ensure(holds, invariant, this.accepted.id, message);
  }
}
