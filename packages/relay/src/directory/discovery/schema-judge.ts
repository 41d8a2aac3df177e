/**
 * What can be said of the schemas of a need and of a capability. Comparing is dear, so each pair is compared once and
 * remembered, and one call compares so many and so long; what it did not get to says so.
 */

import type { Need, SchemaVerdict } from "@handfast/protocol/wire";
import type { RelayLimits } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { canonicalDigest } from "../../schemas/canonical-json.ts";
import { Meter } from "../../schemas/meter.ts";
import type { Schemas } from "../../schemas/schemas.ts";
import type { Entry, JsonSchema, SharedSchema } from "./entry.ts";

/** Whether every value that fits the left schema fits the right one. */
type Comparison =
  | { readonly kind: "proven" }
  | { readonly kind: "unknown"; readonly path: string; readonly because: string }
  | {
      readonly kind: "refuted";
      readonly counterexample: unknown;
      readonly path: string;
      readonly because: string;
    };
export type Compare = (left: JsonSchema, right: JsonSchema) => Comparison;

export interface Verdicts {
  readonly input: SchemaVerdict;
  readonly output: SchemaVerdict;
}

export interface SchemaJudgeOptions {
  readonly compare: Compare;
  readonly schemas: Schemas;
  readonly limits: RelayLimits;
  /** Counts on, from any beginning. */
  readonly elapsed_ms: () => number;
}

/** What one call may still spend. Only the time of the comparisons themselves counts; however slow, a few are made. */
interface Budget {
  comparisons: number;
  least: number;
  ms: number;
}

const unasked: SchemaVerdict = { verdict: "unasked" };
const not_compared: SchemaVerdict = {
  verdict: "unknown",
  because: "not compared: this call has compared as many schemas as one may",
};

/** Whether something of it was left uncompared, so that nothing is known of it. */
export function isCut({ input, output }: Verdicts): boolean {
  return input === not_compared || output === not_compared;
}

const nothing: JsonSchema = { not: {} };
const gives_nothing: SchemaVerdict = {
  verdict: "unknown",
  because: "nothing fits its own output schema, so it promises nothing that it could give",
};
const says_nothing: SchemaVerdict = { verdict: "unknown", because: "it does not say what its output is like" };

export class SchemaJudge {
  readonly #options: SchemaJudgeOptions;
  /** By what was compared; in the order of their last use. */
  readonly #known = new Map<string, SchemaVerdict>();
  readonly #digests = new WeakMap<object, string>();

  constructor(options: SchemaJudgeOptions) {
    this.#options = options;
  }

  /** For one need: what its schemas and its input are to each entry. */
  asking({ input, input_schema, output_schema }: Need): ((entry: Entry) => Verdicts) | null {
    if (input === undefined && input_schema === undefined && output_schema === undefined) return null;
    const { limits } = this.#options;
    const { discovery_comparisons: comparisons, discovery_comparisons_least: least } = limits;
    const budget: Budget = { comparisons, least, ms: limits.discovery_compare_ms };
    const value = input === undefined ? null : { value: input, digest: canonicalDigest(input) };
    const given = (schema: JsonSchema | null) =>
      worse(
        value === null ? unasked : this.#takes(schema, value, budget),
        input_schema === undefined ? unasked : this.#fits(input_schema, schema, budget),
      );
    const wanted = (schema: JsonSchema | null) => {
      if (output_schema === undefined) return unasked;
      if (schema !== null) return this.#gives(schema, output_schema, budget);
      const anything = this.#fits({}, output_schema, budget);
      return anything.verdict === "proven" ? anything : says_nothing;
    };
    const [inputOf, outputOf] = [onceEach(given), onceEach(wanted)];
    return ({ input, output }) => ({ input: inputOf(input), output: outputOf(output) });
  }

  /** Whether this very value is taken. */
  #takes(
    schema: JsonSchema | null,
    { value, digest }: { readonly value: unknown; readonly digest: string },
    budget: Budget,
  ): SchemaVerdict {
    if (schema === null) return { verdict: "proven", because: "it takes anything" };
    return this.#once(`value ${digest} ${this.#digest(schema)}`, budget, () => {
      const { schemas, limits } = this.#options;
      const meter = new Meter(limits.discovery_check_steps);
      const fault = schemas.compile(schema).checkParsed({ ok: true, value }, "input_unfit", meter);
      if (fault === null) return { verdict: "proven" };
      return { verdict: "refuted", because: fault.message, counterexample: value };
    });
  }

  /** Whether every value of the left fits the right; null: it takes anything. */
  #fits(left: JsonSchema, right: JsonSchema | null, budget: Budget): SchemaVerdict {
    if (right === null) return { verdict: "proven", because: "it takes anything" };
    const key = `schema ${this.#digest(left)} ${this.#digest(right)}`;
    return this.#once(key, budget, () => this.#compared(left, right));
  }

  /** The same of an output. Of a schema that nothing fits everything is true, and whoever states one can never answer. */
  #gives(left: JsonSchema, right: JsonSchema, budget: Budget): SchemaVerdict {
    return this.#once(`output ${this.#digest(left)} ${this.#digest(right)}`, budget, () => {
      const made = this.#compared(left, right);
      return made.verdict === "proven" && this.#options.compare(left, nothing).kind === "proven" ? gives_nothing : made;
    });
  }

  #compared(left: JsonSchema, right: JsonSchema): SchemaVerdict {
    const compared = this.#options.compare(left, right);
    if (compared.kind === "proven") return { verdict: "proven" };
    const { path, because } = compared;
    if (compared.kind === "unknown") return { verdict: "unknown", path, because };
    return { verdict: "refuted", path, because, counterexample: compared.counterexample };
  }

  #once(key: string, budget: Budget, judge: () => SchemaVerdict): SchemaVerdict {
    const known = this.#known.get(key);
    if (known !== undefined) {
      this.#known.delete(key);
      this.#known.set(key, known);
      return known;
    }
    if (budget.comparisons <= 0 || (budget.ms <= 0 && budget.least <= 0)) return not_compared;
    const began = this.#options.elapsed_ms();
    const made = this.#admitted(judge);
    budget.comparisons -= 1;
    budget.least -= 1;
    budget.ms -= this.#options.elapsed_ms() - began;
    const [oldest] = this.#known.keys();
    if (this.#known.size >= this.#options.limits.discovery_verdicts_kept && oldest !== undefined) {
      this.#known.delete(oldest);
    }
    this.#known.set(key, made);
    return made;
  }

  /** A schema that was admitted under wider limits than today's says nothing. */
  #admitted(judge: () => SchemaVerdict): SchemaVerdict {
    try {
      return judge();
    } catch (error) {
      if (error instanceof Problem)
        return { verdict: "unknown", because: `its schema cannot be read: ${error.message}` };
      throw error;
    }
  }

  #digest(schema: JsonSchema): string {
    const known = this.#digests.get(schema);
    if (known !== undefined) return known;
    const made = canonicalDigest(schema);
    this.#digests.set(schema, made);
    return made;
  }
}

/** Many entries share a schema: in one call each is judged once. */
function onceEach(judge: (schema: JsonSchema | null) => SchemaVerdict): (shared: SharedSchema | null) => SchemaVerdict {
  const made = new Map<SharedSchema | null, SchemaVerdict>();
  return (shared) => {
    const known = made.get(shared) ?? judge(shared?.schema ?? null);
    made.set(shared, known);
    return known;
  };
}

const severity = { unasked: 0, proven: 1, unknown: 2, refuted: 3 } as const;

function worse(one: SchemaVerdict, other: SchemaVerdict): SchemaVerdict {
  return severity[other.verdict] > severity[one.verdict] ? other : one;
}
