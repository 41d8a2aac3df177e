/**
 * The order of those that meet a need: last those whose schemas were not compared and do not seem to fit; then how well their words fit, in bands; then proven schemas over unknown ones, verified
 * reliability over unproven over breached, live over idle, cheaper over dearer, faster over slower; then by name, so that
 * the same need is answered in the same order.
 */

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

/** What is compared, worked out once for each. */
interface Place {
  readonly judged: Judged;
  /** Likelihood, words, schemas, reliability, liveness and whether its price can be compared, in this order of weight. */
  readonly class: number;
  readonly cost: number;
  readonly pace_ms: number;
}

export function ranked(judged: readonly Judged[], best_text: number): readonly Judged[] {
  return judged
    .map((each) => placeOf(each, best_text))
    .sort(comparePlaces)
    .map((place) => place.judged);
}

function placeOf(judged: Judged, best_text: number): Place {
  const { candidate, verdicts } = judged;
  const { cost, pace, reliability, liveness, text } = candidate;
  const digits = [
    judged.is_unlikely === true ? 1 : 0,
    bandOf(text, best_text),
    verdicts === null ? 0 : doubt[verdicts.input.verdict] + doubt[verdicts.output.verdict],
    trust[reliability.status],
    liveness.state === "live" ? 0 : 1,
    // Prices per handoff and per token cannot be compared: those come after these, and what has none last.
    cost.kind !== "shown" ? 2 : cost.cost.per === "handoff" ? 0 : 1,
  ];
  return {
    judged,
    class: digits.reduce((number, digit) => number * 10 + digit, 0),
    cost: cost.kind === "shown" ? cost.cost.amount : 0,
    pace_ms: pace?.ms ?? Number.MAX_VALUE,
  };
}

function comparePlaces(one: Place, other: Place): number {
  return (
    one.class - other.class ||
    one.cost - other.cost ||
    one.pace_ms - other.pace_ms ||
    other.judged.candidate.text - one.judged.candidate.text ||
    compareNames(one.judged.candidate, other.judged.candidate)
  );
}

export function compareNames({ entry: one }: Candidate, { entry: other }: Candidate): number {
  return compareText(one.provider.name, other.provider.name) || compareText(one.capability.name, other.capability.name);
}

function compareText(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}
