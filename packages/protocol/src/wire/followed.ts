/** Lists that entries come into and leave by being dealt with, and how they are followed without asking again and again. */

import Type from "typebox";
import { closed } from "../fields.ts";
import { handoff_page } from "./handoff.ts";
import { cursor, limit } from "./list.ts";

export const mark = Type.String({
  pattern: "^[A-Za-z0-9_.-]{1,64}$",
  description:
    "Opaque: from an earlier answer. As `since` it makes a wait last until something has come into the list.",
});

export const followed_query = Type.Object(
  { limit: Type.Optional(limit), cursor: Type.Optional(cursor), since: Type.Optional(mark) },
  closed,
);

export const outcome_page = Type.Object({ ...handoff_page.properties, mark });
