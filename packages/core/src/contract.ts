/**
 * What a contract means to a handoff under it: whether the end kept it or broke it, and how much of the reported cost is
 * charged. Whatever ended by a clock counts only where the handoff had the whole time that was agreed on, and the
 * delay was not the asker's or the relay's.
 */

import { type AskersDelay, askersDelay } from "./askers-delay.ts";
import type { Change } from "./change.ts";
import type { Billed, EndState, Handoff, Outcome, Price, Usage } from "./handoff.ts";
import { plus } from "./sum.ts";

/** What the end of a handoff says about its contract. */
export interface ContractVerdict {
  readonly id: string;
  readonly verdict: "fulfilled" | "breach" | "uncounted";
  /** Which of the terms was broken, or why nothing is counted; null: fulfilled. */
  readonly why: BreachReason | Excuse | "canceled" | "input_unfit" | null;
}

type Excuse = "less_time" | "fewer_attempts" | "blocked" | "relay_away" | AskersDelay;
type BreachReason = "late" | "failed" | "rejected" | "output_unfit" | "cost_above_price";

/** Of ends by which it waited for too long: in the queue, for an answer, or in hand. Not of what a worker let go of. */
const waiting_codes: ReadonlySet<number> = new Set([408, 503]);

/** Judged before the end is set: what the handoff was doing decides whose delay it was. Null: under no contract. */
export function judge(change: Change, state: EndState, outcome: Outcome): ContractVerdict | null {
  const { contract } = change.handoff.accepted;
  if (contract === undefined) return null;
  const { id } = contract;
  if (state === "canceled") return { id, verdict: "uncounted", why: "canceled" };
  const billed = bill(change.handoff, outcome.usage);
  if (billed?.over === true) return { id, verdict: "breach", why: "cost_above_price" };
  if (state === "completed") return { id, verdict: "fulfilled", why: null };
  // The agent's own word for what the sender did wrong, unless the relay knows better.
  if (outcome.evidence !== "relay" && outcome.error?.reason === "input_unfit" && contract.input_fits !== true) {
    return { id, verdict: "uncounted", why: "input_unfit" };
  }
  if (outcome.code === 502) return { id, verdict: "breach", why: "output_unfit" };
  if (state === "rejected") return { id, verdict: "breach", why: "rejected" };
  if (outcome.evidence !== "relay") {
    if (contract.fewer_attempts === true) return { id, verdict: "uncounted", why: "fewer_attempts" };
    return { id, verdict: "breach", why: "failed" };
  }
  const excuse = excused(change, outcome, contract.in_full);
  return excuse === null ? { id, verdict: "breach", why: "late" } : { id, verdict: "uncounted", why: excuse };
}

/** Why a clock that ran out is not the provider's doing; null: it is. */
function excused(change: Change, { code }: Outcome, in_full: boolean): Excuse | null {
  const { handoff, now, context } = change;
  const { accepted, status } = handoff;
  const { deadline_ms, ack_ms, lease_ms } = accepted.terms;
  if (!in_full || accepted.deadline_at - accepted.accepted_at < deadline_ms) return "less_time";
  if (status.state === "queued" && status.blocked) return "blocked";
  const is_just_back =
    accepted.accepted_at < context.resumed_at && now < context.resumed_at + Math.max(ack_ms, lease_ms);
  if (is_just_back) return "relay_away";
  return waiting_codes.has(code) ? askersDelay(change) : null;
}

/** What of a handoff's cost has been charged once this usage is added; null: nothing was agreed on, all is charged. */
export function bill(handoff: Handoff, usage: Usage | null): Billed | null {
  const price = handoff.accepted.contract?.price ?? null;
  if (price === null) return null;
  const before = handoff.billed ?? { cost: 0, tokens: 0, over: false };
  if (usage === null) return before;
  const tokens = plus(before.tokens, usage.tokens);
  const most = mostOf(price, tokens);
  const claimed = before.cost + usage.cost;
  return { cost: Math.min(claimed, Math.max(most, before.cost)), tokens, over: before.over || claimed > most };
}

/** The agreed price of so many tokens, or of the handoff. */
function mostOf({ amount, per }: Price, tokens: number): number {
  if (per === "handoff") return amount;
  return Math.min(Math.ceil((amount * tokens) / 1_000), Number.MAX_SAFE_INTEGER);
}
