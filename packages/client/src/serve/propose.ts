/** What an agent that is asked live says to a call for a proposal, and the terms that follow from it. */

import type { ContractTerms, Cost, Limits } from "@handfast/protocol";
import { type Crypto, capabilityDigest } from "@handfast/protocol/client";
import type { ProposalCall } from "@handfast/protocol/wire";
import type { Base } from "../base.ts";
import { type Duration, toMilliseconds } from "../duration.ts";
import { UsageError } from "../errors.ts";
import { limitsOf } from "../send/draft.ts";
import type { SendOptions } from "../send/mod.ts";
import { shown } from "../shown.ts";
import type { Offered } from "./capabilities.ts";

/** On which terms an agent would do it. What is not said stays as it was asked for; limits may only be narrower. */
export interface Proposal
  extends Pick<SendOptions, "timeout" | "queue" | "ack" | "lease" | "attempt" | "attempts" | "retry"> {
  /** The price for this asker; null: none. Default: the capability's `cost`. */
  readonly cost?: Cost | null;
  /** How long the contract may hold, from when it was asked for. */
  readonly valid?: Duration;
}

/**
 * Answers a call for a proposal: with terms, or with nothing where all is agreed to as it was asked. It declines by throwing
 * `Reject`; any other error is a decline too. `signal` is aborted when the answer would come too late.
 */
export type Propose = (
  call: ProposalCall,
  ctx: { readonly signal: AbortSignal },
  // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing agrees to everything.
) => Proposal | undefined | void | Promise<Proposal | undefined | void>;

const names = [
  ...(["timeout", "queue", "ack", "lease", "attempt", "attempts", "retry"] as const),
  ...(["cost", "valid"] as const),
] satisfies readonly (keyof Proposal)[];

/** The terms with what was proposed. Throws UsageError for what no asker would be shown. */
export function proposedTerms({ capability, terms, asked_at }: ProposalCall, proposal: unknown): ContractTerms {
  if (proposal === undefined) return terms;
  if (typeof proposal !== "object" || proposal === null || Array.isArray(proposal)) {
    const remedy = "Return { cost, timeout, … }, or nothing to agree to what was asked; throw Reject to decline.";
    throw new UsageError(`What was proposed for ${capability} is ${shown(proposal)}.`, remedy);
  }
  const strange = Object.keys(proposal).find((name) => !names.some((known) => known === name));
  if (strange !== undefined) {
    throw new UsageError(`A proposal has no ${JSON.stringify(strange)}.`, `Use one of ${names.join(", ")}.`);
  }
  const { cost = terms.cost, valid, ...narrower }: Proposal = proposal;
  const limits = limitsOf(narrower);
  const valid_until = valid === undefined ? terms.valid_until : asked_at + toMilliseconds(valid, "The option valid");
  const more = [...wider(limits, terms.limits), ...(valid_until > terms.valid_until ? ["valid"] : [])];
  if (more.length > 0) {
    const remedy =
      "A proposal may narrow what was asked for, never widen it: leave it out, or throw Reject to decline.";
    throw new UsageError(`What was proposed for ${capability} goes beyond what was asked: ${more.join(", ")}.`, remedy);
  }
  return { ...terms, cost, valid_until, limits: withDeadline({ ...terms.limits, ...limits }) };
}

function wider({ retry, ...counts }: Limits, asked: ContractTerms["limits"]): readonly string[] {
  const most: Readonly<Record<string, unknown>> = asked;
  const more = Object.entries(counts).filter(([name, value]) => Number(value) > Number(most[name]));
  return [...more.map(([name]) => name), ...(retry === "attempts" && asked.retry === "until_ack" ? ["retry"] : [])];
}

/** Nobody waits in a queue beyond the deadline. */
function withDeadline(limits: ContractTerms["limits"]): ContractTerms["limits"] {
  return { ...limits, queue_ms: Math.min(limits.queue_ms, limits.deadline_ms) };
}

/** In what a call is not about what this agent offers here: it signs nothing but its own. */
export function strangeIn(base: Base, { id, from, terms }: ProposalCall, { capability }: Offered): readonly string[] {
  return [
    ...(terms.provider === base.agent ? [] : ["provider"]),
    ...(terms.asker === from ? [] : ["asker"]),
    ...(terms.offer === id ? [] : ["offer"]),
    ...(terms.capability === capability.name ? [] : ["capability"]),
    ...(isOffered(base.crypto, terms, capability) ? [] : ["offered"]),
    ...base.trust.elsewhere(terms),
  ];
}

function isOffered(crypto: Crypto, { offered }: ContractTerms, capability: Offered["capability"]): boolean {
  return offered === capabilityDigest(crypto, capability);
}
