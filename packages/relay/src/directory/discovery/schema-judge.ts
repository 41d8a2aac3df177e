/**
 * What can be said of the schemas of a need and of a capability. Comparing is dear, so each pair is compared once and
 * remembered, and one call compares so many and so long; what it did not get to says so.
 */

import type { Need, SchemaVerdict } from "@handfast/protocol/wire";
import type { RelayLimits } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { canonicalDigest } from "../../schemas/canonical-json.ts";
import { sizeOf } from "../../schemas/compatibility/search/size.ts";
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

/** Of one side of a capability; null: it says nothing of it. */
type Judge = (schema: SharedSchema | null) => SchemaVerdict;

const unasked: SchemaVerdict = { verdict: "unasked" };
/** One for all: tens of thousands are remembered. */
const proven: SchemaVerdict = { verdict: "proven" };
const not_compared: SchemaVerdict = {
  verdict: "unknown",
  because: "not compared: this call has compared as many schemas as one may",
};

/** Whether something of it was left uncompared, so that nothing is known of it. */
export function isCut({ input, output }: Verdicts): boolean {
  return input === not_compared || output === not_compared;
}

const takes_anything: SchemaVerdict = { verdict: "proven", because: "it takes anything" };
const nothing: JsonSchema = { not: {} };
const gives_nothing: SchemaVerdict = {
  verdict: "unknown",
  because: "nothing fits its own output schema, so it promises nothing that it could give",
};
const says_nothing: SchemaVerdict = { verdict: "unknown", because: "it does not say what its output is like" };

export class SchemaJudge {
  readonly #options: SchemaJudgeOptions;
  /** By what a need asks for, in the order of its last use; then by the schema that was judged. */
  readonly #known = new Map<string, Map<string, SchemaVerdict>>();
  #known_size = 0;

  constructor(options: SchemaJudgeOptions) {
    this.#options = options;
  }

  /** For one need: what its schemas and its input are to each entry. */
  asking({ input, input_schema, output_schema }: Need): ((entry: Entry) => Verdicts) | null {
    if (input === undefined && input_schema === undefined && output_schema === undefined) return null;
    const { limits } = this.#options;
    const { discovery_comparisons: comparisons, discovery_comparisons_least: least } = limits;
    const budget: Budget = { comparisons, least, ms: limits.discovery_compare_ms };
    const takes = input === undefined ? null : this.#takes(input, budget);
    const fits = input_schema === undefined ? null : this.#fits(input_schema, budget);
    const gives = output_schema === undefined ? null : this.#gives(output_schema, budget);
    const inputOf = onceEach((shared) => worse(takes?.(shared) ?? unasked, fits?.(shared) ?? unasked));
    const outputOf = onceEach((shared) => gives?.(shared) ?? unasked);
    return ({ input, output }) => ({ input: inputOf(input), output: outputOf(output) });
  }

  /** Whether this very value is taken. */
  #takes(value: unknown, budget: Budget): Judge {
    const { schemas, limits } = this.#options;
    const once = this.#remembering(`value ${canonicalDigest(value)}`, budget);
    return (shared) => {
      if (shared === null) return takes_anything;
      const made = once(shared.key, () => {
        const meter = new Meter(limits.discovery_check_steps);
        const fault = schemas.compile(shared.schema).checkParsed({ ok: true, value }, "input_unfit", meter);
        return fault === null ? proven : { verdict: "refuted", because: fault.message };
      });
      // Whoever asks has the value: with what is remembered it would be kept long after.
      return made.verdict === "refuted" ? { ...made, counterexample: value } : made;
    };
  }

  /** Whether every value of what is given fits. */
  #fits(given: JsonSchema, budget: Budget): Judge {
    const once = this.#remembering(`schema ${canonicalDigest(given)}`, budget);
    return (shared) => {
      if (shared === null) return takes_anything;
      return once(shared.key, () => this.#compared(given, shared.schema));
    };
  }

  /** Whether every output fits what is wanted. Of a schema that nothing fits everything is true, and whoever states one can never answer. */
  #gives(wanted: JsonSchema, budget: Budget): Judge {
    const { compare } = this.#options;
    const once = this.#remembering(`output ${canonicalDigest(wanted)}`, budget);
    return (shared) => {
      if (shared === null) {
        const anything = once("anything", () => this.#compared({}, wanted));
        return anything.verdict === "proven" ? anything : says_nothing;
      }
      return once(shared.key, () => {
        const made = this.#compared(shared.schema, wanted);
        return made.verdict === "proven" && compare(shared.schema, nothing).kind === "proven" ? gives_nothing : made;
      });
    };
  }

  #compared(left: JsonSchema, right: JsonSchema): SchemaVerdict {
    const compared = this.#options.compare(left, right);
    if (compared.kind === "proven") return proven;
    const { path, because } = compared;
    if (compared.kind === "unknown") return { verdict: "unknown", path, because };
    return { verdict: "refuted", path, because, counterexample: compared.counterexample };
  }

  /** What is asked for by this name, judged for each schema once as long as it is remembered. */
  #remembering(asked: string, budget: Budget): (schema: string, judge: () => SchemaVerdict) => SchemaVerdict {
    const known = this.#known.get(asked) ?? new Map<string, SchemaVerdict>();
    if (this.#known.delete(asked)) this.#known.set(asked, known);
    return (schema, judge) => {
      const before = known.get(schema);
      if (before !== undefined) return before;
      if (budget.comparisons <= 0 || (budget.ms <= 0 && budget.least <= 0)) return not_compared;
      const began = this.#options.elapsed_ms();
      const made = this.#admitted(judge);
      budget.comparisons -= 1;
      budget.least -= 1;
      budget.ms -= this.#options.elapsed_ms() - began;
      const most_bytes = this.#options.limits.discovery_verdict_bytes;
      if (sizeOf(made, most_bytes) <= most_bytes) {
        known.set(schema, made);
        this.#keep(asked, known);
      }
      return made;
    };
  }

  /** One more is known: what was asked for longest ago is forgotten, where they are too many. */
  #keep(asked: string, known: Map<string, SchemaVerdict>): void {
    // Before its first verdict nothing is kept of what is asked for: most needs are met, or not, without one.
    if (known.size === 1 && !this.#known.has(asked)) this.#known.set(asked, known);
    // A pause of its call may have let it be forgotten.
    if (this.#known.get(asked) !== known) return;
    this.#known_size += 1;
    while (this.#known_size > this.#options.limits.discovery_verdicts_kept) {
      const [oldest] = this.#known;
      if (oldest === undefined) return;
      const [asked, verdicts] = oldest;
      this.#known.delete(asked);
      this.#known_size -= verdicts.size;
    }
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
}

/** Many entries share a schema: in one call each is judged once. */
function onceEach(judge: Judge): Judge {
  const made = new Map<SharedSchema | null, SchemaVerdict>();
  return (shared) => {
    const known = made.get(shared) ?? judge(shared);
    made.set(shared, known);
    return known;
  };
}

const severity = { unasked: 0, proven: 1, unknown: 2, refuted: 3 } as const;

function worse(one: SchemaVerdict, other: SchemaVerdict): SchemaVerdict {
  return severity[other.verdict] > severity[one.verdict] ? other : one;
}
