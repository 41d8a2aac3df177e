/**
 * Whether what a handoff expects of its output follows from what was agreed on. Nobody is bound by more than it agreed to, so
 * only what is proven passes; each pair is compared once and remembered.
 */

import type { Compare } from "../directory/discovery/schema-judge.ts";
import { canonicalDigest } from "../schemas/canonical-json.ts";
import { agreedOutputs } from "./asker-schemas.ts";
import type { ContractRecord, JsonSchema } from "./contract-record.ts";
import { Remembered } from "./remembered.ts";

export class Expectations {
  readonly #compare: Compare;
  /** By contract and schema. */
  readonly #agreed: Remembered;

  constructor(compare: Compare, most_kept: number) {
    this.#compare = compare;
    this.#agreed = new Remembered(most_kept);
  }

  areAgreed(id: string, record: ContractRecord, expected: JsonSchema): boolean {
    const key = `${id} ${canonicalDigest(expected)}`;
    return this.#agreed.get(key, () => this.#isProven(agreedOutputs(record), expected));
  }

  /** From either alone: schemas that refer to their own parts cannot be joined into one. */
  #isProven(agreed: readonly JsonSchema[], expected: JsonSchema): boolean {
    const premises = agreed.length === 0 ? [{}] : agreed;
    return premises.some((premise) => this.#compare(premise, expected).kind === "proven");
  }
}
