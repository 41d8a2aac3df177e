/**
 * What a worker may demand of an answer. Of a question that nothing can answer nobody could keep silent, and under a contract a
 * provider is excused only by questions that it said it may ask: they are part of what was agreed on.
 */

import { compileCapability } from "@handfast/protocol";
import type { Compare } from "../directory/discovery/schema-judge.ts";
import { canonicalDigest } from "../schemas/canonical-json.ts";
import type { ContractRecord, JsonSchema } from "./contract-record.ts";
import { Remembered } from "./remembered.ts";

const nothing: JsonSchema = { not: {} };

export class AnswerSchemas {
  readonly #compare: Compare;
  /** By schema. */
  readonly #empty: Remembered;
  /** By contract and schema. */
  readonly #beyond: Remembered;

  constructor(compare: Compare, most_kept: number) {
    this.#compare = compare;
    this.#empty = new Remembered(most_kept);
    this.#beyond = new Remembered(most_kept);
  }

  /** Whether it is proven that nothing fits it. */
  fitsNothing(schema: JsonSchema): boolean {
    return this.#empty.get(canonicalDigest(schema), () => this.#compare(schema, nothing).kind === "proven");
  }

  /**
   * Whether it demands more than each of the questions that the agreed capability lists: not of one of them is it proven that all its
   * answers fit. Where none are listed, nothing was agreed on.
   */
  isBeyond(id: string, { capability }: ContractRecord, schema: JsonSchema): boolean {
    if (capability.questions === undefined) return false;
    return this.#beyond.get(`${id} ${canonicalDigest(schema)}`, () => {
      const compiled = compileCapability(capability);
      const listed = compiled.ok ? (compiled.capability.questions ?? []) : [];
      return !listed.some((question) => this.#compare(question.schema ?? {}, schema).kind === "proven");
    });
  }
}
