/** What it takes and what it is worth: time, reliability, price. */

import type { Cost } from "@handfast/protocol";
import type { Need } from "@handfast/protocol/wire";
import type { Candidate } from "../candidate.ts";
import type { Criterion } from "../criterion.ts";
import { claimWords, costWords, durationWords, paceWords } from "../sentences.ts";

export function worthCriteria({ within_ms, min_reliability }: Need): readonly Criterion[] {
  return [
    ...(within_ms === undefined ? [] : [within(within_ms)]),
    ...(min_reliability === undefined ? [] : [reliable(min_reliability)]),
  ];
}

/** Apart from the others: to be told how a price compares is a look at it. */
export function priceCriteria({ max_cost }: Need): readonly Criterion[] {
  return max_cost === undefined ? [] : [affordable(max_cost)];
}

function within(most_ms: number): Criterion {
  return {
    meets: ({ pace }) => pace !== null && pace.ms <= most_ms,
    why: ({ pace }) => (pace === null ? "" : `${paceWords(pace)}, within ${durationWords(most_ms)}.`),
    lacks: ({ pace }) =>
      pace === null
        ? `It says nothing of how long it takes, and ${durationWords(most_ms)} is asked for.`
        : `${paceWords(pace)}, which is more than ${durationWords(most_ms)}.`,
  };
}

/** By its measure, or by a claim that its measure does not contradict. */
function reliable(least: number): Criterion {
  const isMeasured = ({ reliability }: Candidate) => reliability.attempts > 0 && reliability.lower >= least;
  const isClaimed = ({ reliability: { claim, status } }: Candidate) =>
    claim !== null && claim >= least && status !== "breached";
  return {
    meets: (candidate) => isMeasured(candidate) || isClaimed(candidate),
    why: (candidate) =>
      isMeasured(candidate)
        ? `It is measured to succeed in at least ${least} of its attempts.`
        : `It claims to succeed in at least ${least} of its attempts, and nothing measured contradicts it.`,
    lacks: ({ reliability }) => `${claimWords(reliability)} At least ${least} is asked for.`,
  };
}

function affordable(most: Cost): Criterion {
  return {
    meets: ({ cost }) => cost.kind === "shown" && cost.cost.per === most.per && cost.cost.amount <= most.amount,
    why: ({ cost }) => (cost.kind === "shown" ? `It costs ${costWords(cost.cost)}, within ${costWords(most)}.` : ""),
    lacks: ({ cost }) => {
      if (cost.kind === "none") return "It names no price.";
      if (cost.kind === "sealed") return "Its price is sealed, and not shown to the asker.";
      if (cost.cost.per === most.per) return `It costs ${costWords(cost.cost)}, more than ${costWords(most)}.`;
      return `It costs ${costWords(cost.cost)}, and ${costWords(most)} at most is asked for.`;
    },
  };
}
