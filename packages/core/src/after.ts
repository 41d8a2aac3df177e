/** Cancel, and what happens after the end: take, redrive, discard, the relay's chores, retention. */

import { nameOf } from "./ask.ts";
import { type Change, refusal } from "./change.ts";
import { prunableAt } from "./clocks.ts";
import type { Actor, Command, Decision } from "./command.ts";
import { end } from "./end.ts";
import { any_capability, hasEnded, liveLease } from "./handoff.ts";
import { added } from "./sum.ts";

/** First commit wins: after an end, a cancel is answered with that end. */
export function cancel(change: Change, command: Extract<Command, { type: "cancel" }>): Decision {
  const { handoff } = change;
  if (!isSenderOrAbove(change, command.actor)) return change.refused(notYours(change));
  if (hasEnded(handoff.status)) return change.done();
  const lease = liveLease(handoff);
  const by = nameOf(command.actor);
  end(
    change,
    "canceled",
    {
      code: 410,
      fence: lease?.fence ?? null,
      agent: lease?.agent ?? null,
      worker: lease?.worker ?? null,
      evidence: command.evidence,
      content: "canceled",
      output: null,
      artifacts: [],
      error: { reason: "canceled", message: command.reason ?? `canceled by ${by}` },
      usage: null,
    },
    by,
  );
  return change.done(0);
}

/** The sender confirms that it has the outcome. */
export function take(change: Change, command: Extract<Command, { type: "take" }>): Decision {
  const { handoff, now } = change;
  const { status, accepted } = handoff;
  if (!isSenderOrAbove(change, command.actor)) return change.refused(notYours(change));
  if (!hasEnded(status)) {
    return change.refused(
      refusal(409, "not_ended", `handoff ${accepted.id} is ${status.state}; there is no outcome to take yet`),
    );
  }
  if (status.taken_at !== null) return change.done();
  change.set({ status: { ...status, taken_at: now } });
  change.emit({ type: "taken", by: nameOf(command.actor) });
  return change.done();
}

/** Marks a dead letter as redriven; the new handoff is submitted in the same commit. */
export function redrive(change: Change, command: Extract<Command, { type: "redrive" }>): Decision {
  const { handoff, now } = change;
  const { status } = handoff;
  if (!isSenderOrAbove(change, command.actor)) return change.refused(notYours(change));
  if (!hasEnded(status) || status.dead_letter === null) return change.refused(notDead(change));
  if (status.dead_letter.status === "redriven") return change.done();
  if (status.dead_letter.status === "discarded") {
    return change.refused(refusal(409, "discarded", "this dead letter was discarded"));
  }
  const by = nameOf(command.actor);
  change.set({ status: { ...status, dead_letter: { status: "redriven", id: command.id, by, at: now } } });
  change.emit({ type: "redriven", by, to: command.id });
  return change.done();
}

export function discard(change: Change, command: Extract<Command, { type: "discard" }>): Decision {
  const { handoff, now } = change;
  const { status } = handoff;
  if (!isSenderOrAbove(change, command.actor)) return change.refused(notYours(change));
  if (!hasEnded(status) || status.dead_letter === null) return change.refused(notDead(change));
  if (status.dead_letter.status === "discarded") return change.done();
  if (status.dead_letter.status === "redriven") {
    return change.refused(refusal(409, "redriven", `this dead letter was redriven as ${status.dead_letter.id}`));
  }
  const by = nameOf(command.actor);
  change.set({ status: { ...status, dead_letter: { status: "discarded", by, at: now } } });
  change.emit({ type: "discarded", by });
  return change.done();
}

/** A child was accepted: at the end its open children are to be canceled; at once, if the end was faster. */
export function adopt(change: Change): Decision {
  const { has_children, status } = change.handoff;
  if (!has_children) change.set({ has_children: true });
  if (hasEnded(status) && !status.chores.children) {
    change.set({ status: { ...status, chores: { ...status.chores, children: true } } });
  }
  return change.done();
}

export function chargeFromBelow(change: Change, command: Extract<Command, { type: "charge" }>): Decision {
  const { spent } = change.handoff;
  const { usage, handoffs, capability } = command;
  if (capability !== undefined) noteCharge(change, capability);
  change.set({
    spent: { ...added(spent, usage), handoffs: spent.handoffs + handoffs },
  });
  return change.done();
}

function noteCharge(change: Change, capability: string): void {
  const { charged_for = [] } = change.handoff;
  if (charged_for.includes(capability) || charged_for.includes(any_capability)) return;
  const is_full = charged_for.length >= change.context.limits.max_charged_kept;
  change.set({ charged_for: is_full ? [any_capability] : [...charged_for, capability] });
}

/** No open child is left to cancel. */
export function swept(change: Change): Decision {
  const { status } = change.handoff;
  if (!hasEnded(status) || !status.chores.children) return change.done();
  change.set({ status: { ...status, chores: { ...status.chores, children: false } } });
  return change.done();
}

/** The dead letter went, once, to the capability that its sender named. */
export function routed(change: Change, command: Extract<Command, { type: "routed" }>): Decision {
  const { status } = change.handoff;
  if (!hasEnded(status) || !status.chores.route) return change.done();
  change.set({ routed: true, status: { ...status, chores: { ...status.chores, route: false } } });
  change.emit({ type: "routed", to: command.id });
  return change.done();
}

/** Time alone. The clocks are settled already; what is left is retention, and a new time to wake. */
export function tick(change: Change): Decision {
  const { handoff, now, context } = change;
  const prunable = prunableAt(handoff, context);
  const chores = hasEnded(handoff.status) && (handoff.status.chores.children || handoff.status.chores.route);
  if (prunable !== null && now >= prunable && !chores) {
    change.emit({ type: "purged", digest: handoff.accepted.digest });
    return change.purged();
  }
  change.set({});
  return change.done();
}

function isSenderOrAbove(change: Change, actor: Actor): boolean {
  return actor.kind !== "agent" || actor.agent === change.handoff.accepted.from;
}

function notYours(change: Change) {
  return refusal(403, "not_yours", `handoff ${change.handoff.accepted.id} was sent by another agent`);
}

function notDead(change: Change) {
  return refusal(409, "not_dead", `handoff ${change.handoff.accepted.id} is not a dead letter`);
}
