/** Why a handoff is not there: retention dropped it, it is another's, or it never was. */

import { ago, exactly } from "../../moments.ts";
import { isEnd, type StoryEvent } from "../story-event.ts";
import type { Why } from "./facts.ts";

/** `events` are what the log still holds of it. */
export function whyGone(id: string, events: readonly StoryEvent[], now: number): Why {
  const purged = events.findLast(({ type }) => type === "purged");
  const end = events.findLast(({ type }) => isEnd(type));
  if (purged !== undefined) {
    const how = end === undefined ? "" : ` after it had ended as ${end.type} ${end.code ?? ""}`.trimEnd();
    return {
      sentence: `Purged ${ago(purged.at, now)} by retention${how}: state and payloads are gone, its events stay in the log.`,
      next: [`handfast log --correlation ${purged.correlation_id}`],
    };
  }
  const made = events[0];
  if (made !== undefined) {
    return {
      sentence: `The log knows it since ${exactly(made.at)}, but you have no part in it.`,
      next: [`handfast log --correlation ${made.correlation_id}`],
    };
  }
  return {
    sentence: `There is no handoff ${id} at this relay, or you have no part in it: check the id, the relay and as whom you ask.`,
    next: ["handfast list", "handfast doctor"],
  };
}
