/** Mutants that end a handoff twice, otherwise than it was said, or forget its end. */

import type { Mutant } from "./mutant.ts";

const outcome_file = "packages/core/src/outcome.ts";
const after_file = "packages/core/src/after.ts";

export const ending: readonly Mutant[] = [
  {
    name: "double-completion",
    breaks: "A second, different outcome under the same fence replaces the first.",
    killed_by: ["STATE-2", "LATE-2"],
    edits: [
      {
        file: outcome_file,
        find: "export function complete(change: Change, command: Complete): Decision {\n",
        replace: `export function complete(change: Change, command: Complete): Decision {
  const { status } = change.handoff;
  if (status.state === "completed" && status.outcome.fence === command.fence) {
    change.set({ status: { ...status, outcome: outcomeOf(command, 200, command.output) } });
    return change.done(command.fence);
  }
`,
      },
    ],
  },
  {
    name: "repeat-refused",
    breaks: "An outcome that is said twice alike is a conflict.",
    killed_by: ["CMD-3"],
    edits: [
      {
        file: outcome_file,
        find: "if (before.content === command.content) return change.done();",
        replace: "",
      },
    ],
  },
  {
    name: "late-outcome-dropped",
    breaks: "What comes too late is thrown away.",
    killed_by: ["LATE-1", "CANCEL-1"],
    edits: [
      {
        file: outcome_file,
        find: "if (!held || known || is_full || no.code === 403) return change.refused(no);",
        replace: "if (change.now > 0) return change.refused(no);",
      },
    ],
  },
  {
    name: "output-not-checked",
    breaks: "Output that does not fit completes the handoff.",
    killed_by: ["GIVEN-2", "OUTCOME-2"],
    edits: [
      {
        file: outcome_file,
        find: "if (command.fault !== null) return unfit(change, command, lease);",
        replace: "",
      },
    ],
  },
  {
    name: "unfit-output-ends-at-once",
    breaks: "The first output that does not fit ends the handoff.",
    killed_by: ["GIVEN-2"],
    edits: [{ file: "packages/core/src/limits.ts", find: "max_unfit_outputs: 3,", replace: "max_unfit_outputs: 0," }],
  },
  {
    name: "foreign-cancel-allowed",
    breaks: "Whoever is a party may cancel.",
    killed_by: ["CANCEL-2"],
    edits: [
      {
        file: after_file,
        find: `  if (!isSenderOrAbove(change, command.actor)) return change.refused(notYours(change));
  if (hasEnded(handoff.status)) return change.done();`,
        replace: "  if (hasEnded(handoff.status)) return change.done();",
      },
    ],
  },
  {
    name: "cancel-rewrites-the-end",
    breaks: "A cancel after the end makes the handoff canceled.",
    killed_by: ["END-1", "STATE-2"],
    edits: [
      {
        file: after_file,
        find: "  if (hasEnded(handoff.status)) return change.done();",
        replace: `  if (hasEnded(handoff.status)) {
    const { outcome } = handoff.status;
    change.set({ status: { ...handoff.status, state: "canceled", outcome: { ...outcome, code: 410 } } });
    return change.done();
  }`,
      },
    ],
  },
  {
    name: "child-outlives-parent",
    breaks: "Children go on when their parent ends.",
    killed_by: ["CHILD-9"],
    edits: [
      {
        file: "packages/core/src/end.ts",
        find: "chores: { children: handoff.has_children,",
        replace: "chores: { children: false,",
      },
    ],
  },
  {
    name: "evidence-not-demanded",
    breaks: "Attested acts are taken although the sender demands signed ones.",
    killed_by: ["OUTCOME-5"],
    edits: [
      {
        file: "packages/core/src/hold.ts",
        find: 'if (handoff.accepted.demands === "any" || evidence === "signed") return null;',
        replace: "if (evidence !== null || handoff !== null) return null;",
      },
    ],
  },
  {
    name: "question-answered-twice",
    breaks: "Another answer to an answered question is taken without a word.",
    killed_by: ["TWICE-8"],
    edits: [
      {
        file: "packages/core/src/ask.ts",
        find: "if (resolution.content === command.content) return change.done();",
        replace: "if (resolution.content !== null) return change.done();",
      },
    ],
  },
  {
    name: "anybody-answers",
    breaks: "A question put to a desk may be answered by the sender.",
    killed_by: ["QUESTION-2"],
    edits: [
      {
        file: "packages/core/src/ask.ts",
        find: "if (!mayAnswer(question, accepted.from, command)) {",
        replace: "if (mayAnswer === null) {",
      },
    ],
  },
  {
    name: "parked-question-holds-slot",
    breaks: "A parked question keeps its lease.",
    killed_by: ["ASK-2", "QUESTION-8"],
    edits: [
      {
        file: "packages/core/src/ask.ts",
        find: "lease: command.park ? null : { ...lease, attempt_until: null, attempt_left_ms },",
        replace: "lease: { ...lease, attempt_until: null, attempt_left_ms },",
      },
    ],
  },
  {
    name: "take-not-idempotent",
    breaks: "Each take counts anew.",
    killed_by: ["TWICE-10"],
    edits: [
      {
        file: after_file,
        find: "  if (status.taken_at !== null) return change.done();\n",
        replace: "",
      },
    ],
  },
  {
    name: "outcome-dropped-before-taken",
    breaks: "Retention drops outcomes that nobody has taken.",
    killed_by: ["KEEP-2"],
    short_lived: true,
    edits: [
      {
        file: "packages/core/src/clocks.ts",
        find: 'if (taken_at === null || dead_letter?.status === "open") return ended_at + Math.max(keep_untaken_ms, keep_taken_ms);',
        replace: "if (taken_at === null) return ended_at + Math.min(keep_untaken_ms, keep_taken_ms);",
      },
    ],
  },
  {
    name: "redrive-twice-makes-two",
    breaks: "Each redrive of a dead letter makes another handoff.",
    killed_by: ["AFTER-6"],
    edits: [
      {
        file: after_file,
        find: '  if (status.dead_letter.status === "redriven") return change.done();\n',
        replace: "",
      },
      {
        file: "packages/relay/src/operations/dead-letters.ts",
        find: `redrive:\${accepted.id}\`,`,
        replace: `redrive:\${id}\`,`,
      },
    ],
  },
  {
    name: "discarded-redriven",
    breaks: "A dead letter that was let go can be redriven.",
    killed_by: ["AFTER-9"],
    edits: [
      {
        file: after_file,
        find: `  if (status.dead_letter.status === "discarded") {
    return change.refused(refusal(409, "discarded", "this dead letter was discarded"));
  }`,
        replace: "",
      },
    ],
  },
];
