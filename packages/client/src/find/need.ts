/** What somebody needs, as a user of the client writes it, and as the wire has it. */

import type { Cost } from "@handfast/protocol";
import { protocolLimits, wireLimits } from "@handfast/protocol/client";
import type { Need as WireNeed } from "@handfast/protocol/wire";
import { type Duration, toMilliseconds } from "../duration.ts";
import { present } from "../present.ts";
import { usage } from "../send/faults.ts";
import { checkJson } from "../send/json-input.ts";
import { readSchema } from "../serve/schema.ts";
import { type CapabilityTerms, policyOf } from "../serve/terms.ts";
import { shown } from "../shown.ts";
import { textList } from "../text-list.ts";

/** What must hold of whoever is found. Everything is optional; what is said must be met. */
export interface Need {
  /** What it is about, in plain words. */
  readonly words?: string;
  /** The capability's name, where it is known. */
  readonly capability?: string;
  /** A range of its versions, such as `^1.2` or `>=2 <4`. */
  readonly version?: string;
  /** It has all of these. */
  readonly tags?: readonly string[];
  /** An input that must be taken, as it is. */
  readonly input?: unknown;
  /** What will be sent, as JSON Schema, in shorthand, or a schema of zod and others: it must all be taken. */
  readonly inputSchema?: object;
  /** What comes back must fit this. */
  readonly outputSchema?: object;
  /** It is done within this time. */
  readonly within?: Duration;
  /** The share of attempts that succeed, from 0 to 1. */
  readonly minReliability?: number;
  /** The highest price, in millionths of the unit of account. */
  readonly maxCost?: Cost;
  /** What it may do with what it is given. */
  readonly dataPolicy?: NonNullable<CapabilityTerms["dataPolicy"]>;
  /** What a run may change in the world at most. */
  readonly sideEffects?: "none" | "reversible" | "irreversible";
  /** Only agents with a worker that was heard of lately. */
  readonly live?: boolean;
}

const needNames = [
  ...(["words", "capability", "version", "tags", "input", "inputSchema", "outputSchema", "within"] as const),
  ...(["minReliability", "maxCost", "dataPolicy", "sideEffects", "live"] as const),
] satisfies readonly (keyof Need)[];

/** Plain words are a need too. What a relay would refuse for its value, it refuses; what it would not notice is told here. */
export function readNeed(need: string | Need, besides: readonly string[] = []): WireNeed {
  if (typeof need === "string") return { words: worded(need) };
  if (typeof need !== "object" || need === null || Array.isArray(need)) {
    throw usage(`The need is ${shown(need)}.`, 'Say it in words ("translates to French"), or as { capability, … }.');
  }
  checkNames("A need", need, [...needNames, ...besides]);
  const wanted = present({
    words: need.words === undefined ? undefined : worded(need.words),
    capability: need.capability,
    version: need.version,
    tags: need.tags === undefined ? undefined : textList(need.tags, "tags"),
    input: need.input,
    input_schema: schemaOf(need.inputSchema, "input"),
    output_schema: schemaOf(need.outputSchema, "output"),
    within_ms:
      need.within === undefined ? undefined : toMilliseconds(need.within, "within", protocolLimits.duration_ms),
    min_reliability: share(need.minReliability),
    max_cost: priceOf(need.maxCost),
    data_policy: need.dataPolicy === undefined ? undefined : policyOf(need.dataPolicy, seconds),
    side_effects: need.sideEffects,
    live: need.live,
  });
  checkJson(wanted, "The need");
  return wanted;
}

/** A misspelt member would be left out in silence, and somebody found that does not meet it. */
export function checkNames(what: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw usage(`${what} has no ${JSON.stringify(unknown)}.`, `Use one of ${known.join(", ")}.`);
}

function worded(words: string): string {
  const most = wireLimits.words_chars;
  if (typeof words === "string" && words.trim() !== "" && words.length <= most) return words;
  throw usage(`The words of the need are ${shown(words)}.`, `Say in up to ${most} characters what it is about.`);
}

/** A number alone does not say of what. */
function priceOf(cost: Cost | undefined): Cost | undefined {
  if (cost === undefined || (typeof cost === "object" && cost !== null)) return cost;
  const amount = typeof cost === "number" ? shown(cost) : "1000";
  const shape = `{ amount: ${amount}, per: "handoff" }, or per: "thousand_tokens"`;
  throw usage(`maxCost is ${shown(cost)}.`, `Give ${shape}; the amount is in millionths of the unit of account.`);
}

function share(value: number | undefined): number | undefined {
  if (value === undefined || (value >= 0 && value <= 1)) return value;
  throw usage(`minReliability is ${shown(value)}.`, "Give a share from 0 to 1: 0.95 for 95 of 100 attempts.");
}

function seconds(duration: Duration, what: string): number {
  return Math.ceil(toMilliseconds(duration, `${what} of the need`) / 1_000);
}

function schemaOf(schema: object | undefined, side: "input" | "output"): Record<string, unknown> | undefined {
  return schema === undefined ? undefined : readSchema(schema, side, `${side}Schema`, "shorthand_too").json;
}
