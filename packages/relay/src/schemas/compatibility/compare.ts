/**
 * Does everything that fits one schema (the left: what will come) fit another (the right: what is demanded)? First a
 * proof is tried, then a counterexample is looked for. Both are bounded whatever the schemas are.
 */

import type { RelayLimits } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { Meter, TooCostly } from "../meter.ts";
import type { CompiledSchema, Schemas } from "../schemas.ts";
import type { Node } from "./atom.ts";
import { type Gap, Prover } from "./prover.ts";
import { readSchema } from "./read-schema.ts";
import { Explorer, type Found } from "./search/explorer.ts";
import { plainValues } from "./search/plain-values.ts";
import { shrink } from "./search/shrink.ts";
import { sizeOf } from "./search/size.ts";
import { Workshop } from "./workshop.ts";

/** A JSON Schema; undefined, like `true`, takes anything. */
export type Schema = Readonly<Record<string, unknown>> | boolean | undefined;

export type Verdict =
  /** Every JSON value that the relay takes and that fits the left schema fits the right one. */
  | { readonly kind: "proven" }
  /** Where in the right schema (a JSON Pointer) it could not be decided, and why. */
  | { readonly kind: "unknown"; readonly path: string; readonly because: string }
  /** A value that fits the left schema and not the right one, and where in the value (a JSON Pointer) it does not. */
  | { readonly kind: "refuted"; readonly counterexample: unknown; readonly path: string; readonly because: string };

export interface CompareOptions {
  readonly schemas: Schemas;
  /** In [0, 1). */
  readonly random: () => number;
  readonly limits: RelayLimits;
}

export function compare(left: Schema = true, right: Schema = true, options: CompareOptions): Verdict {
  const refused = unreadable(left, "left", options.schemas) ?? unreadable(right, "right", options.schemas);
  return refused ?? new Comparison(left, right, options).verdict();
}

function unreadable(schema: Schema, side: "left" | "right", schemas: Schemas): Verdict | null {
  try {
    schemas.compile(schema);
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const path = error.extra["path"];
    const at = side === "right" && typeof path === "string" ? path : "";
    return { kind: "unknown", path: at, because: `the ${side} schema is none that the relay takes. ${error.message}` };
  }
}

/** Written and read again as JSON, in steps. */
const parsed_char_cost = 150;

const too_costly: Gap = { path: "", because: "the schemas are too large to be compared" };

interface Nodes {
  readonly left: Node;
  readonly right: Node;
}

class Comparison {
  private readonly left: CompiledSchema;
  private readonly right: CompiledSchema;
  private readonly raw: readonly [left: Schema, right: Schema];
  private readonly options: CompareOptions;
  private readonly workshop: Workshop;
  private readonly prover: Prover;

  constructor(left: Schema, right: Schema, options: CompareOptions) {
    this.raw = [left, right];
    this.left = options.schemas.compile(left);
    this.right = options.schemas.compile(right);
    this.options = options;
    this.workshop = new Workshop();
    this.prover = new Prover(this.workshop, options.limits.compare_depth);
  }

  verdict(): Verdict {
    // A proof and a search cost hundreds of times what trying these does, and most pairs that do not fit end here.
    const plain = this.refutation(plainValues(...this.raw), 0);
    if (plain !== null) return plain;
    const { nodes, gap } = this.proof();
    if (gap === null) return { kind: "proven" };
    const found: Found = { breaking: [], plain: [] };
    if (nodes !== null) this.search(nodes, gap !== too_costly, found);
    return this.refutation(found.breaking) ?? { kind: "unknown", ...gap };
  }

  private proof(): { readonly nodes: Nodes | null; readonly gap: Gap | null } {
    let nodes: Nodes | null = null;
    this.workshop.meter.use(new Meter(this.options.limits.compare_proof_steps));
    try {
      nodes = { left: readSchema(this.raw[0], this.workshop), right: readSchema(this.raw[1], this.workshop) };
      return { nodes, gap: this.prover.gap(this.prover.assume(nodes.left.atoms), nodes.right) };
    } catch (error) {
      if (error instanceof TooCostly) return { nodes, gap: too_costly };
      throw error;
    }
  }

  private search({ left, right }: Nodes, has_proof_ended: boolean, found: Found): void {
    const { random, limits } = this.options;
    this.workshop.meter.use(new Meter(limits.compare_search_steps));
    const explorer = new Explorer(this.prover, has_proof_ended, random, {
      samples: limits.compare_samples,
      sample_bytes: limits.compare_sample_bytes,
      depth: limits.compare_depth,
    });
    try {
      const premise = this.prover.assume(left.atoms);
      explorer.explore(explorer.place(premise, right.atoms, right.atoms), true, found);
    } catch (error) {
      // What was found until then counts.
      if (!(error instanceof TooCostly)) throw error;
    }
  }

  /** The smallest of the candidates that really are counterexamples, by the relay's own checkers. */
  private refutation(candidates: readonly unknown[], tries = this.options.limits.compare_shrink_tries): Verdict | null {
    const { compare_sample_bytes, compare_check_steps } = this.options.limits;
    const meter = new Meter(compare_check_steps);
    let smallest: Verdict | null = null;
    const isOne = (value: unknown) => {
      const verdict = this.refutes(value, meter);
      smallest = verdict ?? smallest;
      return verdict !== null;
    };
    try {
      const by_size = candidates.toSorted((a, b) => sizeOf(a, compare_sample_bytes) - sizeOf(b, compare_sample_bytes));
      const first = by_size.find(isOne);
      if (first !== undefined) shrink(first, isOne, tries);
    } catch (error) {
      if (!(error instanceof TooCostly)) throw error;
    }
    return smallest;
  }

  private refutes(value: unknown, meter: Meter): Verdict | null {
    meter.spend(sizeOf(value, this.options.limits.compare_sample_bytes) * parsed_char_cost);
    const bytes = Buffer.from(JSON.stringify(value));
    const parsed = this.options.schemas.parse({ media_type: "application/json", bytes });
    if (!parsed.ok || this.left.judge(parsed.value, meter) !== null) return null;
    const fault = this.right.judge(parsed.value, meter);
    if (fault === null || fault === "too_costly") return null;
    return { kind: "refuted", counterexample: parsed.value, path: fault.path, because: fault.message };
  }
}
