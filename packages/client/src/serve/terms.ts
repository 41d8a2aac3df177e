/** What a capability may say of itself besides its schemas, and how the manifest has it. All of it is optional. */

import type { Capability, Cost } from "@handfast/protocol";
import { type Duration, toMilliseconds } from "../duration.ts";
import { UsageError } from "../errors.ts";
import { shown } from "../shown.ts";
import { textList } from "../text-list.ts";

export interface CapabilityTerms {
  /** The share of attempts that it says will succeed, above 0 and up to 1. The relay measures it. */
  readonly reliability?: number;
  /** Over which time that share holds, and on which conditions. */
  readonly sla?: { readonly window: Duration; readonly conditions?: string };
  /** What a run changes in the world. */
  readonly sideEffects?: "none" | "reversible" | "irreversible";
  /** Inputs with the outputs they lead to; the relay checks that they fit the schemas. */
  readonly examples?: readonly { readonly title?: string; readonly input: unknown; readonly output?: unknown }[];
  /** How many handoffs all workers of the agent together take on at once. */
  readonly maxConcurrent?: number;
  /** How long half of the attempts, and nearly all of them, take at most. */
  readonly latency?: { readonly p50?: Duration; readonly p95?: Duration };
  /** The price, in millionths of the unit of account. It is sealed: only whoever asks for an offer is told. */
  readonly cost?: Cost;
  /** What the agent does with what it is given. What is left out is not promised. */
  readonly dataPolicy?: {
    readonly retention?: Duration;
    readonly regions?: readonly string[];
    readonly trains?: boolean;
    readonly shares?: boolean;
  };
  /** What it may ask the sender meanwhile. Schemas in full, or in shorthand. */
  readonly questions?: readonly {
    readonly name: string;
    readonly description?: string;
    readonly schema?: Readonly<Record<string, unknown>>;
  }[];
  /** Wants to be asked before an offer is made in its name, and may price or decline. */
  readonly proposes?: boolean;
}

/** For the names of options that exist. */
export const termNames = [
  "reliability",
  "sla",
  "sideEffects",
  "examples",
  "maxConcurrent",
  "latency",
  "cost",
  "dataPolicy",
  "questions",
  "proposes",
] as const satisfies readonly (keyof CapabilityTerms)[];

type Stated = Pick<
  Capability,
  | "reliability_sla"
  | "sla"
  | "side_effects"
  | "examples"
  | "max_concurrent"
  | "latency"
  | "data_policy"
  | "questions"
  | "proposes"
>;

/** As a manifest has them; the cost is stated apart, since it is sealed. What is wrong in them, the relay says. */
export function stateTerms(name: string, terms: CapabilityTerms): Stated {
  const { reliability, sla, sideEffects, examples, maxConcurrent, latency, dataPolicy, questions, proposes } = terms;
  if (reliability !== undefined && !(reliability > 0 && reliability <= 1)) {
    const remedy = "Give a share above 0 and up to 1: 0.95 for 95 of 100 attempts.";
    throw new UsageError(`The reliability of ${name} is ${shown(reliability)}.`, remedy);
  }
  const ms = (duration: Duration, what: string) => toMilliseconds(duration, `${what} of ${name}`);
  const seconds = (duration: Duration, what: string) => Math.ceil(ms(duration, what) / 1_000);
  return {
    ...(reliability === undefined ? {} : { reliability_sla: reliability }),
    ...(sla === undefined ? {} : { sla: { ...conditionsOf(sla), window_seconds: seconds(sla.window, "The window") } }),
    ...(sideEffects === undefined ? {} : { side_effects: sideEffects }),
    ...(examples === undefined ? {} : { examples: asJson(name, examples) }),
    ...(maxConcurrent === undefined ? {} : { max_concurrent: maxConcurrent }),
    ...(latency === undefined
      ? {}
      : {
          latency: {
            ...(latency.p50 === undefined ? {} : { p50_ms: ms(latency.p50, "The latency") }),
            ...(latency.p95 === undefined ? {} : { p95_ms: ms(latency.p95, "The latency") }),
          },
        }),
    ...(dataPolicy === undefined ? {} : { data_policy: policyOf(dataPolicy, seconds) }),
    ...(questions === undefined ? {} : { questions: questions.map(({ ...question }) => question) }),
    ...(proposes === undefined ? {} : { proposes }),
  };
}

function conditionsOf({ conditions }: NonNullable<CapabilityTerms["sla"]>): { readonly conditions?: string } {
  return conditions === undefined ? {} : { conditions };
}

export function policyOf(
  { retention, regions, trains, shares }: NonNullable<CapabilityTerms["dataPolicy"]>,
  seconds: (duration: Duration, what: string) => number,
): NonNullable<Capability["data_policy"]> {
  return {
    ...(retention === undefined ? {} : { retention_seconds: seconds(retention, "The retention") }),
    ...(regions === undefined ? {} : { regions: textList(regions, "regions") }),
    ...(trains === undefined ? {} : { trains }),
    ...(shares === undefined ? {} : { shares }),
  };
}

/** What JSON cannot hold would be another example at the relay. */
function asJson(name: string, examples: NonNullable<CapabilityTerms["examples"]>): NonNullable<Capability["examples"]> {
  try {
    return JSON.parse(JSON.stringify(examples)) as NonNullable<Capability["examples"]>;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `An example of ${name} cannot be written as JSON: ${why}.`,
      "Give examples that JSON can hold.",
    );
  }
}
