/**
 * One pair of schemas, its verdict, and values by which the verdict is tried. A contradiction is a value that fits the
 * left and not the right of a proven pair, a counterexample that is none, or a value on which our own reading of a
 * schema, its compiled checker and ajv alone differ.
 */

import { limits } from "../../../limits.ts";
import { Problem } from "../../../problem.ts";
import { Meter, TooCostly } from "../../meter.ts";
import { type CompiledSchema, Schemas } from "../../schemas.ts";
import { compare, type Verdict } from "../compare.ts";
import { Fits } from "../fits.ts";
import { Prover } from "../prover.ts";
import { readSchema } from "../read-schema.ts";
import { Explorer, type Found } from "../search/explorer.ts";
import { Workshop } from "../workshop.ts";
import { drawInstance } from "./draw-instance.ts";
import { type DrawnSchema, drawSchema, drawValue } from "./draw-schema.ts";
import { mutateSchema } from "./mutate-schema.ts";
import { type SecondOpinion, secondOpinion } from "./second-opinion.ts";
import type { Tape } from "./tape.ts";
import type { Json } from "./vocabulary.ts";

export interface Trial {
  readonly left: DrawnSchema;
  readonly right: DrawnSchema;
  /** Null: the relay takes one of the schemas not. */
  readonly verdict: Verdict | null;
  /** Distinct ones. */
  readonly samples: number;
  /** Of them. */
  readonly fit_left: number;
  /** How often a value was also judged by ajv alone. */
  readonly opinions: number;
  /** Whether a sample refutes what was not refuted: no mistake, but less than could be said. */
  readonly missed: boolean;
  readonly contradictions: readonly string[];
}

const samples_per_pair = 96;
/** On average; a tape that ends early only makes the last values dull. */
const bytes_per_sample = 24;
const mutations_most = 3;
const searched_most = 1_000;

export function tryPair(tape: Tape): Trial {
  const { left, right } = drawPair(tape);
  const schemas = new Schemas();
  const compiled = compilePair(schemas, left, right);
  if (compiled === null) {
    return { left, right, verdict: null, samples: 0, fit_left: 0, opinions: 0, missed: false, contradictions: [] };
  }
  const verdict = compare(left, right, { schemas, random: () => tape.fraction(), limits });
  const values = drawSamples(tape.scrambled(samples_per_pair * bytes_per_sample), left, right);
  const judged = values.map((value) => judge(schemas, compiled, value));
  const broken = judged.filter(({ refutes }) => refutes);
  const ours = differences({ left, right }, compiled, values);
  const others = new Opinions(schemas, left, right);
  const contradictions = [
    ...(verdict.kind === "proven"
      ? [...broken, ...searched(tape, left, right).map((value) => judge(schemas, compiled, value))]
          .filter(({ refutes }) => refutes)
          .map(({ value }) => `proven, but ${JSON.stringify(value)} refutes it`)
      : []),
    ...(verdict.kind === "refuted" && !judge(schemas, compiled, verdict.counterexample).refutes
      ? [`refuted by ${JSON.stringify(verdict.counterexample)}, which does not`]
      : []),
    ...others.against(verdict, values),
    ...others.differing(judged),
    ...reflexive(schemas, left, right),
    ...ours,
  ];
  return {
    left,
    right,
    verdict,
    samples: values.length,
    fit_left: judged.filter(({ fits_left }) => fits_left).length,
    opinions: others.given,
    missed: verdict.kind === "unknown" && broken.length > 0,
    contradictions,
  };
}

function drawPair(tape: Tape): { readonly left: DrawnSchema; readonly right: DrawnSchema } {
  const one = drawSchema(tape);
  if (tape.once(8)) return { left: one, right: drawSchema(tape) };
  let other = one;
  for (let n = tape.below(mutations_most + 1); n >= 0; n--) other = mutateSchema(tape, other);
  return tape.once(2) ? { left: one, right: other } : { left: other, right: one };
}

interface CompiledPair {
  readonly left: CompiledSchema;
  readonly right: CompiledSchema;
}

function compilePair(schemas: Schemas, left: DrawnSchema, right: DrawnSchema): CompiledPair | null {
  try {
    return { left: schemas.compile(left), right: schemas.compile(right) };
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

function drawSamples(tape: Tape, left: DrawnSchema, right: DrawnSchema): readonly Json[] {
  const values = Array.from({ length: samples_per_pair }, (_, n) => drawFor(tape, n, left, right));
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

function drawFor(tape: Tape, n: number, left: DrawnSchema, right: DrawnSchema): Json {
  if (n % 8 === 7) return drawValue(tape, 2);
  return drawInstance(tape, n % 4 === 3 ? right : left);
}

function judge(schemas: Schemas, { left, right }: CompiledPair, value: unknown) {
  const meter = new Meter(limits.schema_check_steps);
  const fits_left = left.judge(value, meter) === null;
  const refutes = fits_left && right.judge(value, meter) !== null && canCome(schemas, value);
  return { value, fits_left, refutes };
}

/** What ajv alone says of verdicts and values. */
class Opinions {
  given = 0;
  private readonly schemas: Schemas;
  private readonly left: SecondOpinion;
  private readonly right: SecondOpinion;

  constructor(schemas: Schemas, left: DrawnSchema, right: DrawnSchema) {
    this.schemas = schemas;
    this.left = secondOpinion(left);
    this.right = secondOpinion(right);
  }

  against(verdict: Verdict, values: readonly Json[]): readonly string[] {
    if (verdict.kind === "unknown") return [];
    if (verdict.kind === "refuted") {
      const { counterexample: value } = verdict;
      const isOne = this.left.fits(value) !== false && this.right.fits(value) !== true;
      return isOne ? [] : [`refuted by ${JSON.stringify(value)}, which by ajv alone does not`];
    }
    return values
      .filter((value) => this.left.fits(value) === true && this.right.fits(value) === false)
      .filter((value) => canCome(this.schemas, value))
      .map((value) => `proven, but by ajv alone ${JSON.stringify(value)} refutes it`);
  }

  differing(judged: readonly { readonly value: unknown; readonly fits_left: boolean }[]): readonly string[] {
    return judged.flatMap(({ value, fits_left }) => {
      const opinion = this.left.fits(value);
      if (opinion !== null) this.given++;
      if (opinion === null || opinion === fits_left) return [];
      return [`whether ${JSON.stringify(value)} fits the left schema is told differently by ajv alone`];
    });
  }
}

/** Whether the relay takes such JSON at all. */
function canCome(schemas: Schemas, value: unknown): boolean {
  return schemas.parse({ media_type: "application/json", bytes: Buffer.from(JSON.stringify(value)) }).ok;
}

function differences(
  raw: { readonly left: DrawnSchema; readonly right: DrawnSchema },
  compiled: CompiledPair,
  values: readonly Json[],
): readonly string[] {
  const workshop = new Workshop();
  const fits = new Fits(workshop);
  return (["left", "right"] as const).flatMap((side) => {
    const { atoms } = readSchema(raw[side], workshop);
    return values
      .filter(
        (value) =>
          fits.all(value, atoms) !== (compiled[side].judge(value, new Meter(limits.schema_check_steps)) === null),
      )
      .map((value) => `whether ${JSON.stringify(value)} fits the ${side} schema is told differently`);
  });
}

/** What the search for counterexamples brings when nobody tells it that there is a proof. */
function searched(tape: Tape, left: DrawnSchema, right: DrawnSchema): readonly unknown[] {
  const workshop = new Workshop();
  const prover = new Prover(workshop, limits.compare_depth);
  const explorer = new Explorer(prover, false, () => tape.fraction(), {
    samples: searched_most,
    sample_bytes: limits.compare_sample_bytes,
    depth: limits.compare_depth,
  });
  const premise = prover.assume(readSchema(left, workshop).atoms);
  const demand = readSchema(right, workshop).atoms;
  const found: Found = { breaking: [], plain: [] };
  workshop.meter.use(new Meter(limits.compare_search_steps));
  try {
    explorer.explore(explorer.place(premise, demand, demand), true, found);
  } catch (error) {
    if (!(error instanceof TooCostly)) throw error;
  }
  return [...found.breaking, ...found.plain];
}

/** Every schema includes itself, nothing, and is included in everything. */
function reflexive(schemas: Schemas, left: DrawnSchema, right: DrawnSchema): readonly string[] {
  const pairs = [
    [left, left],
    [right, right],
    [left, true],
    [false, right],
  ] as const;
  return pairs
    .filter((pair) => compare(pair[0], pair[1], { schemas, random: () => 0, limits }).kind !== "proven")
    .map((pair) => `not proven, though it must be: ${JSON.stringify(pair)}`);
}
