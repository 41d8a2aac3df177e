/** How a handoff ends: once, with an outcome, and with whatever its end sets in motion. */

import type { Change } from "./change.ts";
import { bill, judge } from "./contract.ts";
import type { AttemptExcuse } from "./excuse.ts";
import {
  any_capability,
  type EndState,
  type HandoffError,
  hasEnded,
  type Lease,
  laneOf,
  type Outcome,
  type Usage,
} from "./handoff.ts";
import { added } from "./sum.ts";

const deadStates: ReadonlySet<EndState> = new Set(["failed", "rejected", "expired"]);

export function end(
  change: Change,
  state: EndState,
  outcome: Outcome,
  by: string | null = null,
  excuse: AttemptExcuse | null = null,
): void {
  const { handoff, now } = change;
  const { accepted, status } = handoff;
  if (hasEnded(status)) throw new Error(`handoff ${accepted.id} has already ended as ${status.state}`);
  const dead = deadStates.has(state);
  const contract = judge(change, state, outcome);
  closeQuestion(change);
  change.set({
    status: {
      state,
      ended_at: now,
      outcome,
      taken_at: null,
      dead_letter: dead ? { status: "open" } : null,
      chores: { children: handoff.has_children, route: dead && accepted.dead_letter_to !== null && !handoff.routed },
    },
    avoid: null,
    prefer: null,
    continues_ms: null,
    progress: null,
  });
  change.emit({
    type: state,
    code: outcome.code,
    agent: outcome.agent,
    worker: outcome.worker,
    fence: outcome.fence,
    by,
    evidence: outcome.evidence,
    output: outcome.output,
    error: outcome.error,
    usage: outcome.usage,
    ...(excuse === null ? {} : { excuse }),
    ...(contract === null ? {} : { contract }),
  });
  if (outcome.usage !== null && outcome.agent !== null) charge(change, outcome.usage, outcome.agent);
  const lane = laneOf(accepted);
  if (lane !== null) change.follow({ kind: "free_lane", lane });
}

/** Ends a handoff for a reason of the relay's own (a clock, a limit): no agent said it. */
export function endByRelay(
  change: Change,
  state: EndState,
  code: number,
  error: HandoffError,
  lease: Lease | null,
  excuse: AttemptExcuse | null = null,
): void {
  const outcome: Outcome = {
    code,
    fence: lease?.fence ?? null,
    agent: lease?.agent ?? null,
    worker: lease?.worker ?? null,
    evidence: "relay",
    content: `${state}:${code}`,
    output: null,
    artifacts: [],
    error,
    usage: null,
  };
  end(change, state, outcome, null, excuse);
}

/** What was used counts against the handoff's own budget and every one above it; under a contract never above its price. */
export function charge(change: Change, reported: Usage, agent: string): void {
  const { spent, accepted, billed: before, charged_by = [] } = change.handoff;
  const billed = bill(change.handoff, reported);
  const usage = billed === null ? reported : { ...reported, cost: billed.cost - (before?.cost ?? 0) };
  if (billed !== null) change.set({ billed });
  change.set({ spent: { ...spent, ...added(spent, usage) } });
  if (usage.cost > 0 && charged_by.length < 2 && !charged_by.includes(agent)) {
    change.set({ charged_by: [...charged_by, agent] });
  }
  // Whoever is named without a capability may have done any of what it offers.
  const named = usage.cost > 0 ? { capability: accepted.capability ?? any_capability } : {};
  for (const id of accepted.budget_holders) {
    change.follow({ kind: "command", id, command: { type: "charge", usage, handoffs: 0, ...named } });
  }
}

/** Nobody waits for the open question any more: without an answer by now, it stays without one. */
export function closeQuestion(change: Change): void {
  const { status, questions } = change.handoff;
  if (status.state !== "waiting") return;
  const resolution = { kind: "unanswered", at: change.now } as const;
  change.set({
    questions: questions.map((q) => (q.id === status.question && q.resolution === null ? { ...q, resolution } : q)),
  });
}
