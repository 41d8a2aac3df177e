/** Filters of lists. */

import Type, { type Static } from "typebox";
import { closed, fields } from "../fields.ts";
import { wireLimits } from "../limits.ts";
import { state } from "./handoff.ts";

export const cursor = Type.String({
  pattern: "^[A-Za-z0-9_-]{1,512}$",
  description: "Opaque: from an earlier answer.",
});
export const limit = Type.Integer({ minimum: 1, maximum: wireLimits.page_size_most, default: 50 });
const at = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const code = Type.Integer({ minimum: 200, maximum: 599 });

export const handoff_filter = Type.Object(
  {
    state: Type.Optional(state),
    from: Type.Optional(fields.name),
    to: Type.Optional(fields.name),
    capability: Type.Optional(fields.name),
    correlation_id: Type.Optional(fields.text_id),
    causation_id: Type.Optional(fields.id),
    conversation_id: Type.Optional(fields.text_id),
    label: Type.Optional(
      Type.String({
        pattern: "^[^:]{1,64}:[\\s\\S]{0,256}$",
        description: "key:value; a value may have colons of its own.",
      }),
    ),
    code: Type.Optional(code),
    accepted_from: Type.Optional(at),
    accepted_until: Type.Optional(at),
    order: Type.Optional(Type.Enum(["newest", "oldest"])),
    limit: Type.Optional(limit),
    cursor: Type.Optional(cursor),
  },
  closed,
);
export type HandoffFilter = Static<typeof handoff_filter>;

export const dead_letter_fields = {
  status: Type.Optional(Type.Enum(["open", "redriven", "discarded", "any"])),
  code: Type.Optional(code),
  capability: Type.Optional(fields.name),
  to: Type.Optional(fields.name),
  from: Type.Optional(fields.name),
  correlation_id: Type.Optional(fields.text_id),
  older_than_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  younger_than_ms: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
};

export const dead_letter_filter = Type.Object(
  { ...dead_letter_fields, limit: Type.Optional(limit), cursor: Type.Optional(cursor) },
  closed,
);

export const conversation_query = Type.Object({ limit: Type.Optional(limit), cursor: Type.Optional(cursor) }, closed);

export const event_query = Type.Object(
  {
    cursor: Type.Optional(cursor),
    limit: Type.Optional(limit),
  },
  closed,
);

export const log_query = Type.Object(
  {
    from: Type.Optional(at),
    until: Type.Optional(at),
    correlation_id: Type.Optional(fields.text_id),
    agent: Type.Optional(fields.name),
    payloads: Type.Optional(Type.Enum(["digests", "inline"])),
    cursor: Type.Optional(cursor),
  },
  closed,
);
