/** Lines of the log, read back into events. */

import type { StoryEvent } from "./story-event.ts";

export interface LogLine {
  readonly pos: number;
  /** Where the log goes on after this line. */
  readonly cursor: string;
  readonly event: Omit<StoryEvent, "pos">;
  readonly payload?: unknown;
}

export function readLogLines(text: string): readonly LogLine[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as LogLine);
}

export function eventOf({ pos, event }: LogLine): StoryEvent {
  return { ...event, pos };
}
