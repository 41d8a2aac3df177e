/** For tests: many handoffs under one relay, with `decide` applied the way an engine does it, without I/O. */

import { Change } from "../change.ts";
import { settle, wakeAt } from "../clocks.ts";
import type { Command, Context, Decision, Draft, Follow } from "../command.ts";
import { decide } from "../decide.ts";
import type { HandoffEvent } from "../event.ts";
import { type Handoff, hasEnded, laneOf, type Time } from "../handoff.ts";
import { context, start } from "./sample.ts";

/** One decision, and what it was made of. */
export interface Transition {
  readonly before: Handoff | null;
  /** What time alone had made of it by then. */
  readonly settled: Handoff | null;
  readonly command: Command;
  readonly now: Time;
  readonly decision: Decision;
  readonly after: Handoff | null;
}

export const agents = ["bob", "carol", "dave"] as const;

export class World {
  now: Time = start;
  resumed_at: Time = start;
  random = 0;
  /** Open and ended, in accept order; what retention dropped is gone. */
  readonly handoffs = new Map<string, Handoff>();
  /** Every event of every handoff, also of those that are gone. */
  readonly log: HandoffEvent[] = [];
  readonly drafts: Draft[] = [];
  /** Outcomes that were carried out, to be repeated. */
  readonly said: { readonly id: string; readonly command: Command }[] = [];
  readonly #keys = new Map<string, { readonly id: string; readonly content: string }>();
  readonly #watch: (transition: Transition, world: World) => void;

  constructor(watch: (transition: Transition, world: World) => void) {
    this.#watch = watch;
  }

  get all(): readonly Handoff[] {
    return [...this.handoffs.values()];
  }

  submit(draft: Draft): Decision {
    const parent = draft.causation === null ? null : (this.handoffs.get(draft.causation.id) ?? null);
    const holders = parent === null ? [] : [parent.accepted.id, ...parent.accepted.budget_holders];
    const budgets = holders
      .map((id) => this.handoffs.get(id))
      .filter((h) => h !== undefined && h.accepted.budget !== null);
    const known = this.#keys.get(keyOf(draft)) ?? null;
    const decision = this.#decide(
      draft.id,
      { type: "submit", draft, queue_if_absent: false },
      {
        known,
        parent,
        budgets: budgets.filter((h) => h !== undefined),
        lane_busy: this.#laneHead(draft) !== undefined,
        sender_open: 0,
        id_used: false,
      },
    );
    if (decision.next !== null) {
      this.#keys.set(keyOf(draft), { id: draft.id, content: draft.content });
      this.drafts.push(draft);
    }
    return decision;
  }

  run(id: string, command: Exclude<Command, { type: "submit" }>): Decision {
    const excluded = this.handoffs.get(id)?.excluded ?? [];
    const self = "agent" in command ? command.agent : null;
    const others = agents.filter((agent) => agent !== self && !excluded.includes(agent)).length;
    const decision = this.#decide(id, command, { others });
    const outcome = command.type === "complete" || command.type === "fail" || command.type === "reject";
    if (outcome && decision.refusal === null && decision.next !== null) this.said.push({ id, command });
    return decision;
  }

  /** What the timer does: everything that is due, and the chores that ends left behind. */
  tickDue(): void {
    for (const handoff of this.all) {
      const due = wakeAt(handoff, this.#context({}), this.now);
      if (due !== null && due <= this.now) this.run(handoff.accepted.id, { type: "tick" });
    }
    this.sweep();
  }

  /** Cancels the open children of what has ended, level by level. */
  sweep(): void {
    for (let again = true; again; ) {
      again = false;
      for (const { accepted, status } of this.all) {
        if (!hasEnded(status)) continue;
        if (status.chores.route) this.run(accepted.id, { type: "routed", id: `routed ${accepted.id}` });
        if (!status.chores.children) continue;
        for (const child of this.openChildren(accepted.id)) {
          const command = {
            type: "cancel",
            actor: { kind: "relay" },
            reason: "parent ended",
            evidence: "relay",
          } as const;
          this.run(child.accepted.id, command);
        }
        this.run(accepted.id, { type: "swept" });
        again = true;
      }
    }
  }

  openChildren(id: string): readonly Handoff[] {
    return this.all.filter(
      ({ accepted, status }) => accepted.causation?.id === id && !accepted.detached && !hasEnded(status),
    );
  }

  lane(lane: string): readonly Handoff[] {
    return this.all.filter(({ accepted, status }) => laneOf(accepted) === lane && !hasEnded(status));
  }

  #laneHead(draft: Draft): Handoff | undefined {
    const lane = laneOf(draft);
    return lane === null ? undefined : this.lane(lane)[0];
  }

  #context(patch: Partial<Context>): Context {
    return context({ resumed_at: this.resumed_at, random: this.random, ...patch });
  }

  #decide(id: string, command: Command, patch: Partial<Context>): Decision {
    const before = this.handoffs.get(id) ?? null;
    const known = this.#context(patch);
    const decision = decide(before, command, known, this.now);
    const after = decision.next ?? before;
    if (decision.next !== null) this.handoffs.set(decision.next.accepted.id, decision.next);
    if (decision.purge) this.handoffs.delete(id);
    this.log.push(...decision.events);
    for (const follow of decision.follow) this.#follow(follow);
    this.#watch({ before, settled: settledAt(before, known, this.now), command, now: this.now, decision, after }, this);
    return decision;
  }

  #follow(follow: Follow): void {
    if (follow.kind === "command") {
      if (follow.command.type === "submit") throw new Error("no decision is followed by a submit");
      if (this.handoffs.has(follow.id)) this.run(follow.id, follow.command);
      return;
    }
    const head = this.lane(follow.lane)[0];
    if (head !== undefined) this.run(head.accepted.id, { type: "unblock" });
  }
}

function keyOf({ from, idempotency_key }: Draft): string {
  return JSON.stringify([from, idempotency_key]);
}

function settledAt(handoff: Handoff | null, known: Context, now: Time): Handoff | null {
  if (handoff === null) return null;
  const change = new Change(handoff, handoff, known, now);
  settle(change);
  return change.handoff;
}
