/** Mutants whose clocks stand still or run when they should not. */

import type { Mutant } from "./mutant.ts";

const clocks_file = "packages/core/src/clocks.ts";

export const clocks: readonly Mutant[] = [
  {
    name: "deadline-ignored",
    breaks: "The deadline passes, and nothing happens.",
    killed_by: ["CLOCK-2"],
    edits: [{ file: clocks_file, find: "if (now >= accepted.deadline_at) {", replace: "if (now < 0) {" }],
  },
  {
    name: "deadline-too-early",
    breaks: "A handoff expires before its deadline.",
    killed_by: ["CMD-1"],
    edits: [
      {
        file: clocks_file,
        find: "if (now >= accepted.deadline_at) {",
        replace: "if (now >= accepted.accepted_at + 0.5 * (accepted.deadline_at - accepted.accepted_at)) {",
      },
    ],
  },
  {
    name: "attempt-clock-ignored",
    breaks: "A handler that beats may run for ever.",
    killed_by: ["WORK-8"],
    edits: [{ file: clocks_file, find: "  if (now >= overAt) {", replace: "  if (now < 0) {" }],
  },
  {
    name: "ack-clock-ignored",
    breaks: "A delivery that nobody acknowledges stays where it is.",
    killed_by: ["CMD-2"],
    edits: [
      {
        file: clocks_file,
        find: "if (now < ackUntil(handoff, status.lease, context)) return false;",
        replace: "if (now > 0) return false;",
      },
    ],
  },
  {
    name: "lease-clock-ignored",
    breaks: "A worker that is not heard of any more keeps its lease.",
    killed_by: ["WORK-7"],
    edits: [
      {
        file: clocks_file,
        find: "if (now >= lostAt && lostAt <= overAt) {",
        replace: "if (now < 0) {",
      },
    ],
  },
  {
    name: "queue-clock-ignored",
    breaks: "What nobody takes waits until its deadline.",
    killed_by: ["OPEN-2"],
    edits: [
      {
        file: clocks_file,
        find: "if (status.blocked || status.queue_until === null || now < status.queue_until) return false;",
        replace: "if (now > 0) return false;",
      },
    ],
  },
  {
    name: "queue-clock-runs-while-blocked",
    breaks: "A blocked handoff expires by its queue clock.",
    killed_by: ["CLOCK-5"],
    edits: [
      {
        file: "packages/core/src/submit.ts",
        find: "queue_until: blocked ? null : now + draft.terms.queue_ms,",
        replace: "queue_until: now + draft.terms.queue_ms,",
      },
      {
        file: clocks_file,
        find: "if (status.blocked || status.queue_until === null || now < status.queue_until) return false;",
        replace: "if (status.queue_until === null || now < status.queue_until) return false;",
      },
    ],
  },
  {
    name: "beat-does-not-extend",
    breaks: "A beat does not extend the lease.",
    killed_by: ["WORK-1"],
    edits: [
      {
        file: "packages/core/src/hold.ts",
        find: "status: { ...status, lease: { ...lease, beat_at: now } },",
        replace: "status: { ...status, lease },",
      },
    ],
  },
  {
    name: "lease-lost-at-restart",
    breaks: "A lease is lost although the relay itself was away.",
    killed_by: ["DURABLE-6"],
    edits: [
      {
        file: clocks_file,
        find: "return Math.max(lease.beat_at, timing.resumed_at) + handoff.accepted.terms.lease_ms;",
        replace: "return lease.beat_at + handoff.accepted.terms.lease_ms;",
      },
    ],
  },
  {
    name: "absence-held-against-handoff",
    breaks: "A lease that was lost because the relay was away counts as an attempt.",
    killed_by: ["DURABLE-7"],
    edits: [
      {
        file: clocks_file,
        find: "if (lease.beat_at < context.resumed_at) change.set({ attempts: handoff.attempts - countedBy(lease) });",
        replace: "",
      },
    ],
  },
  {
    name: "backoff-ignored",
    breaks: "A failed attempt is followed by the next at once.",
    killed_by: ["GIVEN-5"],
    edits: [
      {
        file: "packages/core/src/requeue.ts",
        find: "return Math.round(Math.min(limits.backoff_most_ms, doubled) * (0.5 + random / 2));",
        replace: "return 0 * doubled * random;",
      },
    ],
  },
  {
    name: "retry-after-ignored",
    breaks: "A worker's wish to be left alone for a while is not heard.",
    killed_by: ["GIVEN-5", "ATTEMPT-3"],
    edits: [
      {
        file: "packages/core/src/outcome.ts",
        find: "const delay_ms = Math.max(command.retry_after_ms ?? 0, backoff(change));",
        replace: "const delay_ms = backoff(change);",
      },
    ],
  },
  {
    name: "until-ack-retried",
    breaks: "What must not run twice is tried again.",
    killed_by: ["ATTEMPT-4", "ATTEMPT-8"],
    edits: [
      {
        file: "packages/core/src/requeue.ts",
        find: "const again = !lease.until_ack && attempts",
        replace: "const again = attempts",
      },
    ],
  },
  {
    name: "deliveries-unbounded",
    breaks: "A handoff is offered for ever, although nobody acknowledges it.",
    killed_by: ["DELIVER-4"],
    edits: [
      {
        file: "packages/core/src/requeue.ts",
        find: "if (deliveries >= handoff.accepted.terms.max_deliveries)",
        replace: "if (deliveries >= 1_000)",
      },
    ],
  },
  {
    name: "answer-by-beyond-deadline",
    breaks: "A question may be open for longer than its handoff lives.",
    killed_by: ["QUESTION-4"],
    edits: [
      {
        file: "packages/core/src/ask.ts",
        find: "Math.min(now + command.answer_ms, deadline_at)",
        replace: "now + command.answer_ms",
      },
    ],
  },
];
