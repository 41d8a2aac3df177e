/** Events as they stand in the log, with the cursor after which the next one comes. */

import Type, { type Static } from "typebox";
import { handoff_view, time } from "./handoff.ts";

export const handoff_event = Type.Object({
  type: Type.String(),
  handoff: Type.String(),
  seq: Type.Integer({ description: "Per handoff, dense from 1." }),
  pos: Type.Integer({ description: "The log's order." }),
  at: time,
  correlation_id: Type.String(),
});
export type EventView = Static<typeof handoff_event>;

export const event_page = Type.Object({
  events: Type.Array(handoff_event),
  cursor: Type.String({ description: "Ask with it for what comes after these." }),
  ended: Type.Boolean({ description: "Everything followed has ended, and these were the last events." }),
});

export const cursor_too_old = Type.Object({
  code: Type.Literal(410),
  reason: Type.Literal("cursor_too_old"),
  cursor: Type.String({ description: "A fresh one: go on from here." }),
  snapshot: Type.Array(handoff_view, { description: "How things stand at that cursor." }),
});
