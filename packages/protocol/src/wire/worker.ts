/** What workers say: claims, and what the holder of a lease does. */

import Type, { type Static } from "typebox";
import { closed, fields } from "../fields.ts";
import { protocolLimits, wireLimits } from "../limits.ts";
import { failure_view, nullable, state, time, why_view } from "./handoff.ts";
import { input_forms, payload_digest } from "./payload.ts";
import { proven_act } from "./signed.ts";

const holder = { fence: fields.fence };
const worker = { worker: Type.Optional(fields.name) };

export const claim_request = Type.Object(
  {
    worker: fields.name,
    request_id: Type.Optional(fields.text_id),
    slots: Type.Optional(Type.Integer({ minimum: 1, maximum: wireLimits.claim_slots })),
    capabilities: Type.Optional(
      Type.Array(fields.name, { minItems: 1, maxItems: protocolLimits.capabilities, uniqueItems: true }),
    ),
    proofs: Type.Optional(Type.Boolean()),
  },
  closed,
);

const conversation = Type.Array(
  Type.Object({
    id: Type.String(),
    question: Type.Unknown(),
    asked_at: time,
    resolution: nullable(Type.Enum(["answered", "unanswered"])),
    answer: Type.Optional(Type.Unknown()),
    by: Type.Optional(Type.String()),
  }),
);

export const lease = Type.Object({
  id: Type.String(),
  fence: Type.Integer(),
  kind: Type.Enum(["handoff", "notice"]),
  from: Type.String(),
  to: nullable(Type.String()),
  capability: nullable(Type.String()),
  correlation_id: Type.String(),
  causation_id: nullable(Type.String()),
  conversation_id: nullable(Type.String()),
  idempotency_key: Type.String({ description: "Equal across attempts." }),
  ...input_forms,
  payload: payload_digest,
  artifacts: Type.Array(fields.artifact),
  labels: fields.labels,
  ext: Type.Optional(fields.ext),
  traceparent: Type.Optional(fields.traceparent),
  expects: Type.Optional(Type.Unknown()),
  evidence: Type.Enum(["signed", "attested", "relay"]),
  demands: Type.Enum(["signed", "any"]),
  contract: Type.Optional(Type.String({ description: "The contract that it was given under." })),
  manifest: nullable(Type.String()),
  why: nullable(why_view),
  attempt: Type.Integer({ description: "The number this attempt has once it is acknowledged." }),
  deadline_ms: Type.Integer({ description: "What is left of the deadline." }),
  ack_ms: Type.Integer(),
  lease_ms: Type.Integer(),
  attempt_ms: Type.Integer(),
  checkpoint: nullable(Type.Object({ fence: Type.Integer(), number: Type.Integer(), state: Type.Unknown() })),
  failures: Type.Array(failure_view),
  questions: conversation,
  digest: Type.String({ description: "Of the handoff's document: what ack and outcome bind." }),
  signed: Type.Optional(proven_act),
});
export type LeaseView = Static<typeof lease>;

export const claim_reply = Type.Object({ leases: Type.Array(lease) });

/** What a worker is told after each of its acts. */
export const held_reply = Type.Object({
  id: Type.String(),
  state,
  fence: Type.Integer(),
  lease_ms: Type.Integer({ description: "Beat again well before this is over." }),
  deadline_ms: Type.Integer({ description: "What is left of the deadline." }),
  at: time,
});
export const checkpoint_reply = Type.Object({ ...held_reply.properties, number: Type.Integer() });
export const outcome_reply = Type.Object({
  ...held_reply.properties,
  code: Type.Integer({ description: "How the handoff stands after it." }),
});

export const plain_ack = Type.Object({ ...holder, ...worker }, closed);

export const heartbeat_request = Type.Object(
  {
    ...holder,
    ...worker,
    progress: Type.Optional(
      Type.Object(
        {
          fraction: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
          note: Type.Optional(fields.message),
        },
        closed,
      ),
    ),
  },
  closed,
);
export const heartbeat_reply = Type.Object({
  ...held_reply.properties,
  question: Type.Optional(
    Type.Object({
      id: Type.String(),
      resolution: nullable(Type.Enum(["answered", "unanswered"])),
      answer: Type.Optional(Type.Unknown()),
      by: Type.Optional(Type.String()),
    }),
  ),
});

export const chunk_request = Type.Object(
  {
    ...holder,
    ...worker,
    offset: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    text: Type.String({ maxLength: wireLimits.chunk_bytes }),
  },
  closed,
);
export const chunk_reply = Type.Object({ offset: Type.Integer({ description: "Where the next chunk begins." }) });
export const chunk_query = Type.Object(
  { offset: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })) },
  closed,
);
export const chunk_view = Type.Object({
  fence: nullable(Type.Integer()),
  floor: Type.Integer({ description: "What lies before is gone." }),
  offset: Type.Integer(),
  text: Type.String(),
  next: Type.Integer({ description: "The offset to ask for next." }),
  state,
});

export const checkpoint_request = Type.Object({ ...holder, ...worker, state: Type.Unknown() }, closed);

export const ask_request = Type.Object(
  {
    ...holder,
    ...worker,
    question: Type.Unknown(),
    question_id: Type.Optional(fields.name),
    to: Type.Optional(fields.name),
    schema: Type.Optional(fields.json_schema),
    answer_ms: Type.Optional(fields.duration_ms),
    park: Type.Optional(Type.Boolean()),
  },
  closed,
);

const result = {
  ...holder,
  ...worker,
  usage: Type.Optional(fields.usage),
  artifacts: Type.Optional(fields.artifacts),
  ext: Type.Optional(fields.ext),
};

export const plain_complete = Type.Object(
  {
    ...result,
    output: Type.Optional(Type.Unknown({ description: "The result as JSON." })),
    text: Type.Optional(Type.String({ description: "The result as plain text, instead of output." })),
  },
  closed,
);

export const plain_fail = Type.Object(
  {
    ...result,
    error: fields.error,
    retryable: Type.Optional(Type.Boolean()),
    retry_after_ms: Type.Optional(fields.duration_ms),
  },
  closed,
);

export const plain_reject = Type.Object({ ...result, error: fields.error }, closed);

export const release_request = Type.Object({ ...holder, ...worker }, closed);
