/** What a person who waits is told, in words. */

import type { QuestionView } from "@handfast/protocol/wire";
import { holderName } from "../inspect/names.ts";
import { shorten, valueText } from "../inspect/payload-text.ts";
import { requeueReason, type StoryEvent } from "../inspect/story-event.ts";
import { ahead, span } from "../moments.ts";

const message_chars = 200;

/** `attempt 2 of 3 after: model overloaded`. `attempts` were acknowledged so far. */
export function retryWords(event: StoryEvent, attempts: number, most: number): string {
  const { agent, worker, error, ready_at, at } = event;
  const why = requeueReason(event);
  const who = agent ? holderName(agent, worker) : "its worker";
  const said = error ? shorten(error.message, message_chars) : "";
  const wait = ready_at !== undefined && ready_at > at ? ` (${ahead(ready_at, at)})` : "";
  const next = `attempt ${attempts + 1} of ${most} after`;
  switch (why) {
    case "failed":
      return `${next}: ${said === "" ? `${who} failed` : said}${wait}`;
    case "attempt_timeout":
      return `${next}: ${who} ran past the attempt's time limit${wait}`;
    case "lease_lost":
      return `${next}: ${who} was lost${wait}`;
    case "unacknowledged":
      return `offered again: ${who} did not acknowledge it`;
    case "rejected":
      return `offered to others: ${who} declined it${said === "" ? "" : `: ${said}`}`;
    case "released":
      return `offered again: ${who} gave it back`;
    case "answered":
      return "queued again with its answer";
    default:
      return `queued again: ${why.replaceAll("_", " ")}`;
  }
}

/** Who asks what, and what to type. `question` is null where it is not for the caller to see. */
export function questionWords({ agent, to, question: id = "" }: StoryEvent, question: QuestionView | null): string[] {
  const text =
    question?.question === undefined ? "" : `: ${valueText(question.question, { full: false, width: message_chars })}`;
  if (to) return [`${agent} asks whoever offers ${to}${text}`];
  const due = question === null ? "" : ` (within ${span(question.answer_by - question.asked_at)})`;
  const expects =
    question?.schema === undefined
      ? []
      : [`it expects ${valueText(question.schema, { full: false, width: message_chars })}`];
  const form = wantsText(question?.schema) ? "--text VALUE" : "VALUE";
  return [`${agent} asks you${text}`, ...expects, `answer it${due}: handfast answer ${id} ${form}`];
}

/** Whether the answer is a text, so that no quotes need be typed around it. */
export function wantsText(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  const { type, enum: choices }: Partial<Record<string, unknown>> = { ...schema };
  return type === "string" || (Array.isArray(choices) && choices.every((choice) => typeof choice === "string"));
}
