/** A handoff as it is shown to its parties. Clients ignore fields they do not know, so these schemas are open. */

import Type, { type Static, type TSchema } from "typebox";
import { fields } from "../fields.ts";
import { input_forms, output_forms, payload_digest } from "./payload.ts";
import { proven_act } from "./signed.ts";

export const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
export const time = Type.Integer({ description: "Milliseconds since 1970 by the relay's clock." });
const evidence = Type.Enum(["signed", "attested", "relay"]);
const count = Type.Integer({ minimum: 0 });
export const state = Type.Enum([
  "queued",
  "delivered",
  "working",
  "waiting",
  "completed",
  "failed",
  "rejected",
  "canceled",
  "expired",
]);

const error = Type.Object({ reason: Type.String(), message: Type.String() });
const error_with_detail = Type.Object({ ...error.properties, detail: Type.Optional(Type.Unknown()) });
const usage = Type.Object({ cost: count, tokens: count });

export const outcome_view = Type.Object({
  code: Type.Integer(),
  name: Type.String(),
  fence: nullable(Type.Integer()),
  agent: nullable(Type.String()),
  worker: nullable(Type.String()),
  evidence,
  ...output_forms,
  payload: nullable(payload_digest),
  artifacts: Type.Array(Type.String()),
  error: nullable(error_with_detail),
  retryable: Type.Optional(Type.Boolean({ description: "Of a failure: whether the agent thinks that a retry helps." })),
  usage: nullable(usage),
});

const lease_view = Type.Object({
  agent: Type.String(),
  worker: Type.String(),
  fence: Type.Integer(),
  delivered_at: time,
  acknowledged_at: nullable(time),
  beat_at: time,
  lease_until: Type.Integer({
    description:
      "When it is lost without another heartbeat, at the earliest: after a restart of the relay it gets more.",
  }),
  attempt_until: nullable(Type.Integer({ description: "When the attempt clock runs out; null: it stands still." })),
});

/** Why a handoff went to the agent that it was last delivered to. */
export const why_view = Type.Object({
  rule: Type.Enum([
    "only",
    "least_loaded",
    "better_of_two",
    "newcomer",
    "established",
    "preferred",
    "sticky_order",
    "conversation",
    "elsewhere",
    "no_other",
  ]),
  among: Type.Integer({ description: "How many agents it was chosen from." }),
  score: Type.Optional(
    Type.Integer({ description: "Latency × (in flight + 1) ÷ success, in milliseconds: what it won with." }),
  ),
  over: Type.Optional(Type.String({ description: "The agent that it was weighed against." })),
  canary: Type.Optional(
    Type.Object({
      version: Type.String({ description: "The versions that a route put it under." }),
      met: Type.Boolean({ description: "Whether the agent's version is one of them." }),
    }),
  ),
});
export type WhyView = Static<typeof why_view>;

export const failure_view = Type.Object({
  fence: Type.Integer(),
  agent: Type.String(),
  worker: Type.String(),
  at: time,
  code: Type.Integer(),
  name: Type.String(),
  error,
});

const progress_view = Type.Object({
  fraction: nullable(Type.Number()),
  note: nullable(Type.String()),
  at: time,
});

const dead_letter_status = Type.Object({
  status: Type.Enum(["open", "redriven", "discarded"]),
  id: Type.Optional(Type.String()),
  by: Type.Optional(Type.String()),
  at: Type.Optional(time),
});

const receipt_view = Type.Object({
  kind: Type.Enum(["handoff", "ack", "outcome", "answer", "cancel"]),
  number: Type.Integer(),
  signed: proven_act,
});

export const handoff_view = Type.Object({
  id: Type.String(),
  kind: Type.Enum(["handoff", "notice"]),
  state,
  code: Type.Integer({ description: "How the handoff goes; the HTTP status only tells how the call went." }),
  name: Type.String(),
  retryable: Type.Boolean({
    description: "Whether the same handoff, given again, may succeed: as the agent said, else of the code.",
  }),
  from: Type.String(),
  to: nullable(Type.String()),
  capability: nullable(Type.String()),
  version_range: nullable(Type.String({ description: "The versions of the capability that its sender asks for." })),
  canary: nullable(Type.String({ description: "The versions that a route put it under." })),
  idempotency_key: Type.String(),
  correlation_id: Type.String(),
  causation: nullable(Type.Object({ id: Type.String(), fence: Type.Integer() })),
  conversation_id: nullable(Type.String()),
  detached: Type.Boolean(),
  hops: count,
  ordering_key: nullable(Type.String()),
  priority: count,
  labels: fields.labels,
  digest: Type.String(),
  evidence,
  demands: Type.Enum(["signed", "any"]),
  ...input_forms,
  payload: payload_digest,
  artifacts: Type.Array(Type.String()),
  limits: Type.Object({
    deadline_ms: Type.Integer(),
    queue_ms: Type.Integer(),
    ack_ms: Type.Integer(),
    lease_ms: Type.Integer(),
    attempt_ms: nullable(Type.Integer()),
    max_attempts: Type.Integer(),
    max_deliveries: Type.Integer(),
    retry: Type.Enum(["attempts", "until_ack"]),
  }),
  budget: nullable(Type.Object({ cost: nullable(count), tokens: nullable(count), handoffs: nullable(count) })),
  spent: Type.Object({ cost: nullable(count), tokens: count, handoffs: count }),
  cost_sealed: Type.Optional(
    Type.Literal(true, {
      description:
        "What was spent below, or is left, would tell the caller a price that is sealed from it: such a cost is null.",
    }),
  ),
  contract: Type.Optional(Type.String({ description: "The contract that it was given under." })),
  dead_letter_to: nullable(Type.String()),
  redrive_of: nullable(Type.String()),
  redriven_by: nullable(Type.String()),
  accepted_at: time,
  deadline_at: time,
  ready_at: nullable(time),
  blocked: Type.Boolean({ description: "Queued behind an earlier handoff of its ordering key." }),
  queue_until: nullable(Type.Integer({ description: "When the queue clock runs out, while it is queued." })),
  ended_at: nullable(time),
  taken_at: nullable(time),
  version: count,
  seq: count,
  fence: count,
  attempts: count,
  deliveries: count,
  lease: nullable(lease_view),
  why: nullable(why_view),
  question: nullable(
    Type.Object({
      id: Type.String(),
      fence: Type.Integer(),
      asked_at: time,
      answer_by: time,
      to: nullable(Type.String()),
      parked: Type.Boolean(),
    }),
  ),
  outcome: nullable(outcome_view),
  late: Type.Array(Type.Object({ at: time, state: Type.String(), outcome: outcome_view })),
  dead_letter: nullable(dead_letter_status),
  failures: Type.Array(failure_view),
  progress: nullable(progress_view),
  checkpoint: nullable(Type.Object({ fence: Type.Integer(), number: Type.Integer() })),
  receipts: Type.Optional(Type.Array(receipt_view)),
});
export type HandoffView = Static<typeof handoff_view>;
export type OutcomeView = Static<typeof outcome_view>;

export const handoff_page = Type.Object({
  handoffs: Type.Array(handoff_view),
  cursor: nullable(Type.String({ description: "Where the next page begins; null: this was the last." })),
});

export const correlation_view = Type.Object({
  correlation_id: Type.String(),
  summary: Type.Object({
    total: count,
    open: count,
    ended: count,
    by_state: Type.Unsafe<Record<string, number>>({ type: "object", additionalProperties: { type: "integer" } }),
    by_code: Type.Unsafe<Record<string, number>>({ type: "object", additionalProperties: { type: "integer" } }),
  }),
  tree: Type.Array(
    Type.Unsafe<CorrelationNode>({
      type: "object",
      required: ["handoff", "children"],
      properties: { handoff: handoff_view, children: { type: "array", items: { type: "object" } } },
    }),
  ),
  cursor: nullable(Type.String({ description: "More handoffs than one answer holds: where the rest begins." })),
});
export interface CorrelationNode {
  readonly handoff: HandoffView;
  readonly children: readonly CorrelationNode[];
}
