/** For tests: one handoff led through its life by verbs, remembering every step of the way. */

import { wakeAt } from "../clocks.ts";
import type { Actor, Command, Context, Decision } from "../command.ts";
import { decide } from "../decide.ts";
import type { HandoffEvent } from "../event.ts";
import { type Ended, type Handoff, hasEnded, type Lease, liveLease, type State, type Time } from "../handoff.ts";
import { type ContextPatch, context, type DraftPatch, digestOf, draft, payload, start, trouble } from "./sample.ts";

export interface Step {
  readonly state: Handoff | null;
  readonly command: Command;
  readonly context: Context;
  readonly now: Time;
  readonly decision: Decision;
}

type Of<T extends Command["type"]> = Extract<Command, { type: T }>;
type Patch<T extends Command["type"]> = Partial<Omit<Of<T>, "type">>;

export const sender: Actor = { kind: "agent", agent: "alice" };
export const stranger: Actor = { kind: "agent", agent: "mallory" };
export const operator: Actor = { kind: "operator", name: "olga" };
export const relay: Actor = { kind: "relay" };

export class Life {
  now: Time = start;
  context: Context;
  handoffOrNull: Handoff | null = null;
  readonly steps: Step[] = [];
  readonly events: HandoffEvent[] = [];

  constructor(patch: ContextPatch = {}) {
    this.context = context(patch);
  }

  /** A life that begins with an accepted handoff. */
  static of(patch: DraftPatch = {}, contextPatch: ContextPatch = {}): Life {
    const life = new Life();
    life.submit(patch, contextPatch);
    return life;
  }
  static delivered(patch: DraftPatch = {}): Life {
    const life = Life.of(patch);
    life.deliver();
    return life;
  }
  static working(patch: DraftPatch = {}): Life {
    const life = Life.delivered(patch);
    life.ack();
    return life;
  }
  static failed(patch: DraftPatch = {}): Life {
    const life = Life.working(patch);
    life.fail({ retryable: false });
    return life;
  }
  static completed(patch: DraftPatch = {}): Life {
    const life = Life.working(patch);
    life.complete();
    return life;
  }

  get handoff(): Handoff {
    if (this.handoffOrNull === null) throw new Error("nothing was accepted yet");
    return this.handoffOrNull;
  }
  get state(): State {
    return this.handoff.status.state;
  }
  get lease(): Lease {
    const lease = liveLease(this.handoff);
    if (lease === null) throw new Error(`nobody holds it: it is ${this.state}`);
    return lease;
  }
  get ended(): Ended {
    const { status } = this.handoff;
    if (!hasEnded(status)) throw new Error(`it has not ended: it is ${status.state}`);
    return status;
  }
  get wakeAt(): Time | null {
    return wakeAt(this.handoff, this.context, this.now);
  }
  get eventTypes(): readonly string[] {
    return this.events.map((event) => event.type);
  }

  do(command: Command, patch: ContextPatch = {}): Decision {
    const state = this.handoffOrNull;
    const context = { ...this.context, ...patch };
    const decision = decide(state, command, context, this.now);
    this.steps.push({ state, command, context, now: this.now, decision });
    this.handoffOrNull = decision.next ?? state;
    this.events.push(...decision.events);
    return decision;
  }

  /** Time passes and nothing else happens, not even a tick. */
  wait(ms: number): this {
    this.now += ms;
    return this;
  }
  /** Time passes and the timer notices. */
  pass(ms: number): Decision {
    return this.wait(ms).tick();
  }
  /** Time passes with a beat every ten seconds. */
  keepBeating(ms: number): this {
    for (const end = this.now + ms; this.now < end; ) {
      this.wait(Math.min(10_000, end - this.now)).beat();
    }
    return this;
  }

  submit(patch: DraftPatch = {}, contextPatch: ContextPatch = {}, queue_if_absent = false): Decision {
    return this.do({ type: "submit", draft: draft(patch), queue_if_absent }, contextPatch);
  }
  deliver(patch: Patch<"deliver"> = {}): Decision {
    const agent = patch.agent ?? this.handoffOrNull?.accepted.to ?? "bob";
    return this.do({
      type: "deliver",
      agent,
      worker: `${agent}-1`,
      request_id: "claim-1",
      manifest: digestOf(`manifest of ${agent}`),
      attempt_ms: null,
      idempotent: true,
      why: { rule: "only", among: 1 },
      ...patch,
    });
  }
  ack(patch: Patch<"ack"> = {}): Decision {
    return this.do({ type: "ack", ...this.#holder(patch.fence), evidence: "signed", ...patch });
  }
  beat(patch: Patch<"beat"> = {}): Decision {
    return this.do({ type: "beat", ...this.#holder(patch.fence), progress: null, ...patch });
  }
  checkpoint(patch: Patch<"checkpoint"> = {}): Decision {
    return this.do({ type: "checkpoint", ...this.#holder(patch.fence), state: payload("half done"), ...patch });
  }
  ask(patch: Patch<"ask"> = {}): Decision {
    return this.do({
      type: "ask",
      ...this.#holder(patch.fence),
      question: "question-1",
      to: null,
      answer_ms: 60_000,
      park: false,
      ...patch,
    });
  }
  answer(patch: Patch<"answer"> = {}): Decision {
    return this.do({
      type: "answer",
      actor: sender,
      question: "question-1",
      content: digestOf("answer"),
      answer: payload("answer"),
      evidence: "signed",
      offers: [],
      ...patch,
    });
  }
  complete(patch: Patch<"complete"> = {}): Decision {
    return this.do({
      type: "complete",
      ...this.#said(patch.fence),
      content: digestOf("output"),
      output: payload("output"),
      fault: null,
      ...patch,
    });
  }
  fail(patch: Patch<"fail"> = {}): Decision {
    return this.do({
      type: "fail",
      ...this.#said(patch.fence),
      content: digestOf("failure"),
      error: trouble,
      output: null,
      retryable: true,
      retry_after_ms: null,
      ...patch,
    });
  }
  reject(patch: Patch<"reject"> = {}, contextPatch: ContextPatch = {}): Decision {
    const error = { reason: "not_my_trade", message: "this agent does not take such work" };
    return this.do(
      { type: "reject", ...this.#said(patch.fence), content: digestOf("rejection"), error, ...patch },
      contextPatch,
    );
  }
  release(patch: Patch<"release"> = {}): Decision {
    return this.do({ type: "release", ...this.#holder(patch.fence), ...patch });
  }
  cancel(patch: Patch<"cancel"> = {}): Decision {
    return this.do({ type: "cancel", actor: sender, reason: null, evidence: "signed", ...patch });
  }
  take(actor: Actor = sender): Decision {
    return this.do({ type: "take", actor });
  }
  redrive(id: string, actor: Actor = operator): Decision {
    return this.do({ type: "redrive", actor, id });
  }
  discard(actor: Actor = operator): Decision {
    return this.do({ type: "discard", actor });
  }
  exclude(agent: string, contextPatch: ContextPatch = {}): Decision {
    const error = { reason: "type", message: "/query must be a string" };
    return this.do({ type: "exclude", agent, error }, contextPatch);
  }
  tick(): Decision {
    return this.do({ type: "tick" });
  }

  #holder(fence: number = this.handoff.fence): { agent: string; fence: number } {
    return { agent: this.handoff.holders.find((holder) => holder.fence === fence)?.agent ?? "bob", fence };
  }

  #said(fence: number | undefined) {
    const holder = this.#holder(fence);
    const evidence = "signed" as const;
    return { ...holder, worker: `${holder.agent}-1`, evidence, usage: null, artifacts: [] };
  }
}
