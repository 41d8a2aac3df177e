/** Mutants that choose the wrong agent, or do not say why. */

import type { Mutant } from "./mutant.ts";

export const routing: readonly Mutant[] = [
  {
    name: "any-version-in-range",
    breaks: "Every version lies in every range.",
    killed_by: ["RANGE-1", "RANGE-2"],
    edits: [
      {
        file: "packages/protocol/src/manifest/version-range.ts",
        find: "return alternatives.some((comparisons) => holds(comparisons, read));",
        replace: "return alternatives.length > 0 || alternatives.some((comparisons) => holds(comparisons, read));",
      },
    ],
  },
  {
    name: "weights-ignored",
    breaks: "All work goes to the first range of a route.",
    killed_by: ["CANARY-1"],
    edits: [
      {
        file: "packages/relay/src/routing/routes.ts",
        find: "let left = shareOf(id) * total;",
        replace: "let left = shareOf(id) * total * 0;",
      },
    ],
  },
  {
    name: "route-not-followed",
    breaks: "What a route put under a range goes to any agent all the same.",
    killed_by: ["CANARY-2"],
    edits: [
      {
        file: "packages/core/src/favour.ts",
        find: "return isWorthWaiting(item, within, now, routing) ? within : places;",
        replace: "return isWorthWaiting(item, within, now, routing) ? places : places;",
      },
    ],
  },
  {
    name: "too-slow-chosen",
    breaks: "Work goes to an agent that cannot end it before the deadline.",
    killed_by: ["CHOICE-2"],
    edits: [
      {
        file: "packages/core/src/favour.ts",
        find: "(entry?.standing.p50_ms ?? 0) <= deadline_at - now",
        replace: "(entry?.standing.p50_ms ?? 0) <= deadline_at",
      },
    ],
  },
  {
    name: "failed-goes-back",
    breaks: "A failed attempt goes to the agent that failed it as soon as to another.",
    killed_by: ["CHOICE-1"],
    edits: [
      {
        file: "packages/core/src/requeue.ts",
        find: "requeue(change, { why, code, lease, error, ready_at, excuse, patch: { avoid } });",
        replace:
          'requeue(change, { why, code, lease, error, ready_at, excuse, patch: why === "failed" ? {} : { avoid } });',
      },
    ],
  },
  {
    name: "breach-unheeded",
    breaks: "An agent that breaks its claim gets work like any other.",
    killed_by: ["CHOICE-4"],
    edits: [
      {
        file: "packages/relay/src/routing/standings.ts",
        find: 'breached: status === "breached",',
        replace: "breached: false,",
      },
      {
        file: "packages/relay/src/routing/standings.ts",
        find: "ejected: ejected_until !== null,",
        replace: "ejected: false,",
      },
    ],
  },
  {
    name: "conversation-not-held",
    breaks: "A conversation goes to whoever asks first.",
    killed_by: ["TIE-1", "TIE-3"],
    edits: [
      {
        file: "packages/core/src/favour.ts",
        find: "for (const tie of tiesOf(item)) {",
        replace: 'for (const tie of tiesOf(item).filter(({ kind }) => kind !== "conversation")) {',
      },
    ],
  },
  {
    name: "why-forgotten",
    breaks: "Why an agent got a handoff is not kept with it.",
    killed_by: ["WHY-1"],
    edits: [
      {
        file: "packages/core/src/deliver.ts",
        find: "    why,\n",
        replace: "",
      },
    ],
  },
  {
    name: "too-many-at-a-time",
    breaks: "An agent gets as many leases as its workers ask for, whatever its manifest says.",
    killed_by: ["CHOICE-3"],
    edits: [
      {
        file: "packages/relay/src/routing/standings.ts",
        find: "max_concurrent: offered?.max_concurrent ?? null,",
        replace: "max_concurrent: null,",
      },
    ],
  },
];
