/** One event on one line, for whoever watches. */

import { exactly } from "../../moments.ts";
import { eventWords } from "../event-words.ts";
import { type Look, paintState } from "../look.ts";
import { shortId, targetName } from "../names.ts";
import { isEnd, type StoryEvent } from "../story-event.ts";

/** Wide enough for the longest type, `acknowledged`. */
const type_width = 12;

/** `many`: the line also says which handoff it is about. `asked`: the text of a question that the event tells of. */
export function watchLine(event: StoryEvent, many: boolean, look: Look, asked?: string): string {
  const { at, type, handoff, to_agent = null, capability = null } = event;
  const time = look.full ? exactly(at) : new Date(at).toISOString().slice(11, 23);
  const which = many ? `${shortId(handoff)}  ${targetName({ to: to_agent, capability })}  ` : "";
  const padded = type.padEnd(type_width);
  const shown = isEnd(type) ? padded.replace(type, paintState(type, look)) : padded;
  return `${look.style("dim", time)}  ${which}${shown}  ${eventWords(event, asked)}`.trimEnd();
}
