/**
 * The order of those that meet a need: last those whose schemas were not compared and do not seem to fit; then how well their words fit, in bands; then proven schemas over unknown ones, verified
 * reliability over unproven over breached, live over idle, cheaper over dearer, faster over slower; then by name, so that
 * the same need is answered in the same order.
 */

import type { Cost } from "@handfast/protocol";
import type { SchemaVerdict } from "@handfast/protocol/wire";
import type { Candidate } from "./candidate.ts";
import type { Verdicts } from "./schema-judge.ts";

export interface Judged {
  readonly candidate: Candidate;
  readonly verdicts: Verdicts | null;
  /** Its schemas were not compared, and at a glance they do not fit. */
  readonly is_unlikely?: boolean;
}

/** Words that fit nearly as well are no reason to pass over what is proven. */
export const text_bands = 5;

/** From 0, the best. */
export function bandOf(text: number, best: number): number {
  return best === 0 ? 0 : Math.min(text_bands - 1, Math.floor((1 - text / best) * text_bands));
}

const trust = { verified: 0, unproven: 1, unclaimed: 1, breached: 2 } as const;
const doubt: Readonly<Record<SchemaVerdict["verdict"], number>> = { unasked: 0, proven: 0, unknown: 1, refuted: 2 };

/** What one is worth but for its price, which an offer may name anew. */
export interface Merit {
  /** Likelihood, words, schemas, reliability and liveness, in this order of weight; less is better. */
  readonly class: number;
  /** Null: nobody says how long it takes. */
  readonly pace_ms: number | null;
  /** How well its words fit. */
  readonly text: number;
}

/** What is compared, worked out once for each. */
export interface Place extends Merit {
  /** Null: it has none, or none that may be seen. */
  readonly cost: Cost | null;
  readonly agent: string;
  readonly capability: string;
}

export function ranked(judged: readonly Judged[], best_text: number): readonly Judged[] {
  return judged
    .map((each) => ({ judged: each, place: placeOf(each, best_text) }))
    .sort((one, other) => comparePlaces(one.place, other.place))
    .map((placed) => placed.judged);
}

export function meritOf({ candidate, verdicts, is_unlikely }: Judged, best_text: number): Merit {
  const { pace, reliability, liveness, text } = candidate;
  const digits = [
    is_unlikely === true ? 1 : 0,
    bandOf(text, best_text),
    verdicts === null ? 0 : doubt[verdicts.input.verdict] + doubt[verdicts.output.verdict],
    trust[reliability.status],
    liveness.state === "live" ? 0 : 1,
  ];
  return { class: digits.reduce((number, digit) => number * 10 + digit, 0), pace_ms: pace?.ms ?? null, text };
}

function placeOf(judged: Judged, best_text: number): Place {
  const { entry, cost } = judged.candidate;
  return {
    ...meritOf(judged, best_text),
    cost: cost.kind === "shown" ? cost.cost : null,
    agent: entry.provider.name,
    capability: entry.capability.name,
  };
}

export function comparePlaces(one: Place, other: Place): number {
  return (
    one.class - other.class ||
    priceClass(one.cost) - priceClass(other.cost) ||
    (one.cost?.amount ?? 0) - (other.cost?.amount ?? 0) ||
    (one.pace_ms ?? Number.MAX_VALUE) - (other.pace_ms ?? Number.MAX_VALUE) ||
    other.text - one.text ||
    compareText(one.agent, other.agent) ||
    compareText(one.capability, other.capability)
  );
}

/** Prices per handoff and per token cannot be compared: those come after these, and what has none last. */
function priceClass(cost: Cost | null): number {
  if (cost === null) return 2;
  return cost.per === "handoff" ? 0 : 1;
}

export function compareNames({ entry: one }: Candidate, { entry: other }: Candidate): number {
  return compareText(one.provider.name, other.provider.name) || compareText(one.capability.name, other.capability.name);
}

function compareText(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
