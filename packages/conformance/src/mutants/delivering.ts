/** Mutants that give work to the wrong one, twice, out of turn, or under the wrong fence. */

import type { Mutant } from "./mutant.ts";

export const delivering: readonly Mutant[] = [
  {
    name: "stale-fence-accepted",
    breaks: "Any fence will do, as long as somebody of the agent holds the handoff.",
    killed_by: ["FENCE-2"],
    edits: [
      {
        file: "packages/core/src/hold.ts",
        find: "if (lease !== null && lease.fence === fence) {",
        replace: "if (lease !== null && fence > 0) {",
      },
    ],
  },
  {
    name: "fence-not-growing",
    breaks: "A delivery has the fence of the one before.",
    killed_by: ["FENCE-1"],
    edits: [
      {
        file: "packages/core/src/deliver.ts",
        find: "const fence = handoff.fence + 1;",
        replace: "const fence = Math.max(1, handoff.fence);",
      },
    ],
  },
  {
    name: "order-broken",
    breaks: "Nothing waits for the head of its lane.",
    killed_by: ["ORDER-1", "QUEUE-3"],
    edits: [
      {
        file: "packages/core/src/submit.ts",
        find: "const blocked = context.lane_busy;",
        replace: "const blocked = false;",
      },
    ],
  },
  {
    name: "lane-not-freed",
    breaks: "The end of the head frees nobody.",
    killed_by: ["QUEUE-3"],
    edits: [
      {
        file: "packages/core/src/end.ts",
        find: 'if (lane !== null) change.follow({ kind: "free_lane", lane });',
        replace: "",
      },
    ],
  },
  {
    name: "priority-ignored",
    breaks: "What is ready goes by time alone.",
    killed_by: ["ORDER-9"],
    edits: [
      {
        file: "packages/core/src/findable.ts",
        find: "return accepted.accepted_at - accepted.priority * limits.priority_bonus_ms;",
        replace: "return accepted.accepted_at;",
      },
    ],
  },
  {
    name: "claim-repeated-gives-others",
    breaks: "A repeated claim is taken for a new one.",
    killed_by: ["TWICE-1", "TWICE-2"],
    edits: [
      {
        file: "packages/engine/src/claims.ts",
        find: "if (same.length > 0) {",
        replace: "if (same.length > 1_000) {",
      },
    ],
  },
  {
    name: "more-leases-than-slots",
    breaks: "A worker is given whatever there is.",
    killed_by: ["WHO-1"],
    edits: [
      {
        file: "packages/core/src/choose.ts",
        find: "    place.seat.free -= 1;\n",
        replace: "",
      },
      {
        file: "packages/engine/src/workers.ts",
        find: "if (takes(asked, queue, target.capability) && given.length < claim.slots) return waiting;",
        replace: "if (takes(asked, queue, target.capability) && given !== null) return waiting;",
      },
    ],
  },
  {
    name: "reject-not-excluding",
    breaks: "An agent that rejected a handoff gets it again.",
    killed_by: ["GIVEN-6", "WHO-6"],
    edits: [
      {
        file: "packages/core/src/outcome.ts",
        find: "    excluded: [...handoff.excluded, lease.agent],\n",
        replace: "",
      },
    ],
  },
  {
    name: "worker-not-avoided",
    breaks: "A worker that did not acknowledge is offered the same again before others.",
    killed_by: ["WHO-2"],
    edits: [
      {
        file: "packages/core/src/requeue.ts",
        find: "patch: { avoid: avoidance(change, lease, now, lease.worker) },",
        replace: "patch: {},",
      },
    ],
  },
  {
    name: "foreign-worker-accepted",
    breaks: "Any worker of an agent may act under the lease of another.",
    killed_by: ["HOLD-2"],
    edits: [
      {
        file: "packages/relay/src/operations/holding.ts",
        find: "if (live !== null && live.agent === agent && live.worker !== worker) {",
        replace: "if (live !== null && live.agent === agent && live.worker === null) {",
      },
    ],
  },
  {
    name: "attempt-counted-on-release",
    breaks: "A release counts as an attempt.",
    killed_by: ["WORK-5"],
    edits: [
      {
        file: "packages/core/src/hold.ts",
        find: "const attempts = handoff.attempts - countedBy(lease);",
        replace: "const attempts = handoff.attempts;",
      },
    ],
  },
  {
    name: "notice-not-ended-at-ack",
    breaks: "A notice goes on after its ack.",
    killed_by: ["WHAT-1"],
    edits: [
      {
        file: "packages/core/src/hold.ts",
        find: 'const notice = handoff.accepted.kind === "notice";',
        replace: "const notice = false;",
      },
    ],
  },
  {
    name: "checkpoint-forgotten",
    breaks: "The next attempt gets no checkpoint.",
    killed_by: ["WORK-3"],
    edits: [
      {
        file: "packages/relay/src/operations/claim.ts",
        find: "checkpoint: handoff.checkpoint === null ? null : await showCheckpoint(relay, accepted, handoff.checkpoint),",
        replace: "checkpoint: null,",
      },
    ],
  },
  {
    name: "over-not-told",
    breaks: "A connected worker is not told that its lease is over.",
    killed_by: ["TOLD-1"],
    edits: [
      {
        file: "packages/relay/src/transports/websocket/session.ts",
        find: 'tell: (notice) => this.outbox.add("over", JSON.stringify(notice)),',
        replace: "tell: () => undefined,",
      },
    ],
  },
];
