/** Accepting a handoff: idempotent, within its parent, within every budget above it. */

import { Change, refusal } from "./change.ts";
import { settle } from "./clocks.ts";
import type { Command, Context, Decision, Draft, Refusal } from "./command.ts";
import { endByRelay } from "./end.ts";
import {
  type Accepted,
  any_capability,
  type Budget,
  type Handoff,
  liveLease,
  type Spent,
  type Time,
} from "./handoff.ts";

/** Keys of redrives and routed dead letters: no sender may take them first. */
export const reserved_key_prefix = "handfast:";

const nothingSpent: Spent = { cost: 0, tokens: 0, handoffs: 0 };

type Submit = Extract<Command, { readonly type: "submit" }>;

export function submit(existing: Handoff | null, command: Submit, context: Context, now: Time): Decision {
  const { draft, posted = false } = command;
  // Its id was made by the relay's own function: whatever has it is what became of it the first time.
  if (posted && (existing !== null || context.id_used)) return answerOnly(null);
  const no = refuse(existing, command, context, now);
  if (no === null) return accept(draft, context, now).done(0);
  if (no === "repeated") return answerOnly(null);
  return posted && !passes(no) ? acceptDead(draft, no, context, now) : answerOnly(no);
}

/** What time may mend: then it is asked again. */
function passes({ code }: Refusal): boolean {
  return code === 429;
}

function refuse(existing: Handoff | null, command: Submit, context: Context, now: Time): Refusal | "repeated" | null {
  const { draft, queue_if_absent, posted = false } = command;
  const { known } = context;
  if (draft.idempotency_key.startsWith(reserved_key_prefix) && draft.redrive_of === null) {
    const message = `idempotency keys that begin with ${reserved_key_prefix} are the relay's own; choose another`;
    return refusal(400, "reserved_key", message);
  }
  if (known !== null) {
    return known.content === draft.content ? "repeated" : refusal(409, "key_conflict", keyConflict(draft, known.id));
  }
  return (
    refuseId(existing, draft, context) ??
    (posted ? null : refuseIdTime(draft, context, now)) ??
    refuseQuota(draft, context) ??
    refuseChild(draft, context, now) ??
    refuseBudget(context) ??
    refuseTarget(draft, queue_if_absent, context)
  );
}

/**
 * Under a key of its own, since the one that it names may stand for another; below no parent and under no contract, since neither
 * was found to be its.
 */
function acceptDead(posted: Draft, no: Refusal, context: Context, now: Time): Decision {
  const { contract: _contract, ...draft } = posted;
  const alone = { ...draft, idempotency_key: draft.id, causation: null };
  const change = accept(alone, { ...context, parent: null, budgets: [], lane_busy: false }, now);
  endByRelay(change, "failed", no.code, { reason: no.reason, message: no.message }, null);
  return change.done(0);
}

function accept(draft: Draft, context: Context, now: Time): Change {
  const { parent, budgets } = context;
  const own = now + draft.terms.deadline_ms;
  const accepted: Accepted = {
    ...draft,
    correlation_id: draft.correlation_id ?? parent?.accepted.correlation_id ?? draft.id,
    hops: parent === null ? 0 : parent.accepted.hops + 1,
    budget: budgets.reduce(narrow, draft.budget),
    budget_holders: budgets.map((holder) => holder.accepted.id),
    ...toldBy(draft.budget, budgets),
    accepted_at: now,
    deadline_at: parent === null ? own : Math.min(own, parent.accepted.deadline_at),
  };
  const blocked = context.lane_busy;
  const change = new Change(
    null,
    {
      accepted,
      version: 0,
      seq: 0,
      fence: 0,
      attempts: 0,
      deliveries: 0,
      status: { state: "queued", ready_at: now, queue_until: blocked ? null : now + draft.terms.queue_ms, blocked },
      excluded: context.target.kind === "fits" ? context.target.except : [],
      avoid: null,
      prefer: null,
      continues_ms: null,
      failures: [],
      holders: [],
      checkpoint: null,
      questions: [],
      late: [],
      spent: nothingSpent,
      has_children: false,
      routed: false,
      progress: null,
    },
    context,
    now,
  );
  const { digest, evidence, input, contract } = draft;
  const named = contract === undefined ? {} : { contract: contract.id };
  change.emit({ type: "accepted", code: 202, digest, evidence, input, ...named });
  if (parent !== null && !parent.has_children) {
    change.follow({ kind: "command", id: parent.accepted.id, command: { type: "adopt" } });
  }
  for (const holder of budgets) {
    const command = { type: "charge", usage: { cost: 0, tokens: 0 }, handoffs: 1 } as const;
    change.follow({ kind: "command", id: holder.accepted.id, command });
  }
  return change;
}

function answerOnly(no: Refusal | null): Decision {
  return { next: null, events: [], refusal: no, follow: [], durable: false, keep: null, purge: false };
}

function keyConflict(draft: Draft, id: string): string {
  return `idempotency key ${JSON.stringify(draft.idempotency_key)} already stands for handoff ${id} with other content`;
}

function refuseId(existing: Handoff | null, draft: Draft, context: Context): Refusal | null {
  if (existing === null && !context.id_used) return null;
  return refusal(409, "id_taken", `id ${draft.id} is already in use; make a new UUIDv7`);
}

function refuseIdTime(draft: Draft, context: Context, now: Time): Refusal | null {
  const { id_ahead_ms, id_behind_ms } = context.limits;
  const time = Number.parseInt(draft.id.slice(0, 8) + draft.id.slice(9, 13), 16);
  if (time <= now + id_ahead_ms && time >= now - id_behind_ms) return null;
  return refusal(400, "id_time", `the time in id ${draft.id} is not near the relay's; check the clock that made it`);
}

function refuseQuota({ from }: Draft, { sender_open, limits }: Context): Refusal | null {
  if (sender_open < limits.max_open_per_sender) return null;
  return refusal(429, "over_quota", `agent ${from} has ${sender_open} handoffs open; wait until some have ended`);
}

/** A child names its parent and the fence it works under; only the holder of that fence may. */
function refuseChild(draft: Draft, context: Context, now: Time): Refusal | null {
  const { parent, limits } = context;
  if (draft.causation === null) return null;
  const { id, fence } = draft.causation;
  if (parent === null) return refusal(404, "unknown_parent", `there is no handoff ${id} to be the parent`);
  const settled = new Change(parent, parent, context, now);
  settle(settled);
  const held = parent.holders.find((holder) => holder.fence === fence);
  if (held?.agent !== draft.from)
    return refusal(403, "foreign_parent", `agent ${draft.from} does not hold handoff ${id}`);
  if (liveLease(settled.handoff)?.fence !== fence) {
    return refusal(412, "lease_lost", `the lease of parent ${id} under fence ${fence} is over`);
  }
  if (parent.accepted.hops + 1 > limits.max_hops) {
    return refusal(508, "too_many_hops", `${limits.max_hops} handoffs below the first are allowed`);
  }
  if (draft.correlation_id !== null && draft.correlation_id !== parent.accepted.correlation_id) {
    return refusal(
      400,
      "correlation_differs",
      `a child belongs to its parent's correlation ${parent.accepted.correlation_id}`,
    );
  }
  return null;
}

function refuseBudget({ budgets }: Context): Refusal | null {
  for (const { accepted, spent } of budgets) {
    const { budget } = accepted;
    if (budget === null) continue;
    const over =
      (budget.handoffs !== null && spent.handoffs >= budget.handoffs && "handoffs") ||
      (budget.cost !== null && spent.cost >= budget.cost && "cost") ||
      (budget.tokens !== null && spent.tokens >= budget.tokens && "tokens");
    if (over) return refusal(402, "budget_spent", `the budget for ${over} of handoff ${accepted.id} is spent`);
  }
  return null;
}

function refuseTarget(draft: Draft, queueIfAbsent: boolean, { target }: Context): Refusal | null {
  switch (target.kind) {
    case "fits":
      return null;
    case "absent":
      if (queueIfAbsent) return null;
      return refusal(
        406,
        "nobody_offers",
        `no agent offers ${JSON.stringify(draft.capability ?? draft.to)}; start one, or set queue_if_absent to wait for one`,
      );
    case "unknown_agent":
      return queueIfAbsent ? null : refusal(404, "unknown_agent", `there is no agent ${JSON.stringify(draft.to)}`);
    case "other_versions":
      return queueIfAbsent ? null : refusal(406, "no_such_version", otherVersions(draft, target.versions));
    case "unfit":
      return refusal(422, target.error.reason, target.error.message);
    case "out_of_contract":
    case "malformed":
      return target.refusal;
    default:
      throw new Error(`unreachable target ${JSON.stringify(target satisfies never)}`);
  }
}

function otherVersions({ capability, version_range }: Draft, versions: readonly string[]): string {
  const there = versions.length === 0 ? "none that says its version" : versions.join(", ");
  return `no agent offers ${JSON.stringify(capability)} in version ${JSON.stringify(version_range)}; there is ${there}: ask for one of those, or set queue_if_absent to wait`;
}

/** A budget below others can only be smaller than what is left of each: the nearest may not know what was spent beside it. */
function narrow(asked: Budget | null, { accepted: { budget }, spent }: Handoff): Budget | null {
  if (asked === null || budget === null) return asked;
  return {
    cost: least(asked.cost, left(budget.cost, spent.cost)),
    tokens: least(asked.tokens, left(budget.tokens, spent.tokens)),
    handoffs: least(asked.handoffs, left(budget.handoffs, spent.handoffs)),
  };
}

/** What a budget that was cut to what is left tells of: the cost of whatever was charged above. */
function toldBy(asked: Budget | null, budgets: readonly Handoff[]): Pick<Accepted, "budget_tells"> {
  const told = budgets.flatMap(({ charged_for = [], charged_by, accepted }) => [
    ...(charged_by === undefined ? [] : [accepted.capability ?? any_capability]),
    ...charged_for,
    ...(accepted.budget_tells ?? []),
  ]);
  const is_cut = budgets.reduce(narrow, asked)?.cost !== asked?.cost;
  return is_cut && told.length > 0 ? { budget_tells: [...new Set(told)] } : {};
}

function left(budget: number | null, spent: number): number | null {
  return budget === null ? null : Math.max(0, budget - spent);
}

function least(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}
