/** What was agreed on, in words. */

import type { Contract } from "@handfast/client";
import { exactly, span } from "../moments.ts";
import { perWords } from "./words.ts";

/** "upper within 1 min, in up to 3 attempts, for 100 millionths per handoff". */
export function termsWords(terms: Contract["terms"]): string {
  const { capability, limits } = terms;
  const attempts = limits.max_attempts === 1 ? "in 1 attempt" : `in up to ${limits.max_attempts} attempts`;
  return `${capability} within ${span(limits.deadline_ms)}, ${attempts}, ${terms.cost === null ? "at no price" : `for ${priceWords(terms)}`}`;
}

export function priceWords({ cost }: Contract["terms"]): string {
  return cost === null ? "none" : `${cost.amount} millionths ${perWords(cost)}`;
}

/** Of one that nobody can end any more; null: it is not over. */
export function overWords({
  state,
  contract_id,
  ended,
  valid_until,
}: Pick<Contract["view"], "state" | "contract_id" | "ended" | "valid_until">): string | null {
  if (ended !== null) return `${contract_id} was ended before, ${exactly(ended.at)} by ${ended.by}`;
  return state === "expired" ? `${contract_id} had expired before, ${exactly(valid_until)}` : null;
}
