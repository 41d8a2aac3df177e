/** Dead letters: what came to nothing, with everything known about it. */

import Type from "typebox";
import { closed, fields } from "../fields.ts";
import { handoff_event } from "./events.ts";
import { handoff_view, nullable, time } from "./handoff.ts";
import { dead_letter_fields } from "./list.ts";
import { input_forms } from "./payload.ts";
import { question_view } from "./questions.ts";

export const dead_letter_page = Type.Object({
  dead_letters: Type.Array(handoff_view),
  cursor: nullable(Type.String()),
});

export const dead_letter_view = Type.Object({
  handoff: handoff_view,
  reason: Type.Object({ code: Type.Integer(), name: Type.String(), reason: Type.String(), message: Type.String() }),
  ...input_forms,
  questions: Type.Array(question_view),
  events: Type.Array(handoff_event),
  events_cursor: nullable(Type.String({ description: "Where further events begin, if one page did not hold them." })),
});

export const plain_redrive = Type.Object(
  {
    input: Type.Optional(Type.Unknown()),
    text: Type.Optional(Type.String()),
    limits: Type.Optional(fields.limits),
    to: Type.Optional(fields.name),
    capability: Type.Optional(fields.name),
    queue_if_absent: Type.Optional(Type.Boolean()),
  },
  closed,
);

export const redrive_reply = Type.Object({
  id: Type.String({ description: "The dead letter." }),
  redriven_as: Type.String({ description: "The handoff it lives on as." }),
  repeated: Type.Boolean(),
  handoff: nullable(handoff_view),
});

export const bulk_redrive = Type.Object(
  {
    dry_run: Type.Optional(Type.Literal(true)),
    filter: Type.Optional(Type.Object(dead_letter_fields, closed)),
    plan: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9-]{1,64}$" })),
  },
  closed,
);

export const redrive_plan = Type.Object({
  plan: Type.String(),
  count: Type.Integer(),
  ids: Type.Array(Type.String(), { description: "A sample." }),
  expires_at: time,
});

export const bulk_redrive_reply = Type.Object({
  plan: Type.String(),
  count: Type.Integer(),
  redriven: Type.Integer({ description: "By this run." }),
  already_redriven: Type.Integer({ description: "By an earlier run, or one by one." }),
  refused: Type.Array(Type.Object({ id: Type.String(), code: Type.Integer(), reason: Type.String() })),
});
