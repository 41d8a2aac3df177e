/** Questions back, and their answers. */

import Type, { type Static } from "typebox";
import { closed, fields } from "../fields.ts";
import { mark } from "./followed.ts";
import { nullable, state, time } from "./handoff.ts";

export const question_id = Type.String({
  pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}:[A-Za-z0-9][A-Za-z0-9._-]{0,127}$",
  description: "The handoff's id, a colon, and the question's name.",
});

export const question_view = Type.Object({
  id: Type.String(),
  handoff: Type.String(),
  digest: Type.String({ description: "Of the handoff's document: what a signed answer binds." }),
  agent: Type.String({ description: "Who asks." }),
  from: Type.String({ description: "Who sent the handoff." }),
  to: nullable(Type.String({ description: "The capability asked; null: the sender." })),
  correlation_id: Type.String(),
  state,
  code: Type.Integer(),
  question: Type.Optional(Type.Unknown()),
  schema: Type.Optional(Type.Unknown()),
  asked_at: time,
  answer_by: time,
  open: Type.Boolean(),
  resolution: nullable(Type.Enum(["answered", "unanswered"])),
  answer: Type.Optional(Type.Unknown()),
  by: Type.Optional(Type.String()),
  answered_at: Type.Optional(time),
});
export type QuestionView = Static<typeof question_view>;

export const question_page = Type.Object({
  questions: Type.Array(question_view),
  cursor: nullable(Type.String()),
  mark,
});

export const plain_answer = Type.Object(
  { answer: Type.Unknown(), ext: Type.Optional(fields.ext) },
  { ...closed, required: ["answer"] },
);
