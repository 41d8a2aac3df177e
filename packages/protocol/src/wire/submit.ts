/** Giving work: one handoff or a batch, plain or signed, and the receipt for it. */

import Type, { type Static } from "typebox";
import { handoffFields } from "../documents.ts";
import { closed } from "../fields.ts";
import { wireLimits } from "../limits.ts";
import { handoff_view } from "./handoff.ts";
import { signed_body } from "./signed.ts";

const { id, input: _digest, redrive_of: _redrive, on_behalf_of: _behalf, ...terms } = handoffFields;

export const plain_submit = Type.Object(
  {
    id: Type.Optional(id),
    ...terms,
    input: Type.Optional(Type.Unknown({ description: "The work as JSON." })),
    text: Type.Optional(Type.String({ description: "The work as plain text, instead of input." })),
  },
  closed,
);
export type PlainSubmit = Static<typeof plain_submit>;

/** Each element is checked in its own form, plain or signed. */
export const submit_batch = Type.Object(
  {
    handoffs: Type.Array(Type.Unsafe<Record<string, unknown>>({ type: "object" }), {
      minItems: 1,
      maxItems: wireLimits.batch_handoffs,
    }),
  },
  closed,
);

export const submit_batch_documented = Type.Object({
  handoffs: Type.Array(Type.Union([plain_submit, signed_body]), { minItems: 1, maxItems: wireLimits.batch_handoffs }),
});

export const receipt = Type.Object({
  id: Type.String(),
  state: Type.String(),
  code: Type.Integer({ description: "202: durable at the relay. Otherwise how the handoff stands by now." }),
  name: Type.String(),
  correlation_id: Type.Union([Type.String(), Type.Null()]),
  digest: Type.Union([Type.String(), Type.Null()]),
  accepted_at: Type.Union([Type.Integer(), Type.Null()]),
  deadline_at: Type.Union([Type.Integer(), Type.Null()]),
  repeated: Type.Boolean({ description: "It was accepted before: this answers a retry." }),
  handoff: Type.Union([handoff_view, Type.Null()]),
});
export type Receipt = Static<typeof receipt>;

export const receipts = Type.Object({ receipts: Type.Array(receipt) });
