/**
 * Whether what a handoff expects of its output follows from what was agreed on. Nobody is bound by more than it agreed to, so
 * only what is proven passes; each pair is compared once and remembered.
 */

import type { Compare } from "../directory/discovery/schema-judge.ts";
import { canonicalDigest } from "../schemas/canonical-json.ts";
import { agreedOutputs } from "./asker-schemas.ts";
import type { ContractRecord, JsonSchema } from "./contract-record.ts";

export class Expectations {
  readonly #compare: Compare;
  readonly #most_kept: number;
  /** By contract and schema; in the order of their last use. */
  readonly #known = new Map<string, boolean>();

  constructor(compare: Compare, most_kept: number) {
    this.#compare = compare;
    this.#most_kept = most_kept;
  }

  areAgreed(id: string, record: ContractRecord, expected: JsonSchema): boolean {
    const key = `${id} ${canonicalDigest(expected)}`;
    const known = this.#known.get(key);
    const made = known ?? this.#isProven(agreedOutputs(record), expected);
    this.#known.delete(key);
    const [oldest] = this.#known.keys();
    if (this.#known.size >= this.#most_kept && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(key, made);
    return made;
  }

  /** From either alone: schemas that refer to their own parts cannot be joined into one. */
  #isProven(agreed: readonly JsonSchema[], expected: JsonSchema): boolean {
    const premises = agreed.length === 0 ? [{}] : agreed;
    return premises.some((premise) => this.#compare(premise, expected).kind === "proven");
  }
}
