/** What was agreed on, in words. */

import type { Contract } from "@handfast/client";
import { span } from "../moments.ts";
import { perWords } from "./words.ts";

/** "upper within 1 min, in up to 3 attempts, for 100 millionths per handoff". */
export function termsWords(terms: Contract["terms"]): string {
  const { capability, limits } = terms;
  const attempts = limits.max_attempts === 1 ? "in 1 attempt" : `in up to ${limits.max_attempts} attempts`;
  return `${capability} within ${span(limits.deadline_ms)}, ${attempts}, ${priceWords(terms)}`;
}

export function priceWords({ cost }: Contract["terms"]): string {
  return cost === null ? "at no price" : `for ${cost.amount} millionths ${perWords(cost)}`;
}
