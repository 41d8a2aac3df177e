/** What one event says, in words. */

import { ahead } from "../moments.ts";
import { holderName } from "./names.ts";
import { shorten } from "./payload-text.ts";
import { routedWords } from "./routed-words.ts";
import { isEnd, requeueReason, type StoryEvent } from "./story-event.ts";

const message_chars = 160;

/** Without the type, which stands beside it. `asked` is the text of the question, where it is known. */
export function eventWords(event: StoryEvent, asked?: string): string {
  const { type, agent, worker, fence, by } = event;
  const holder = agent === null || agent === undefined ? "" : holderName(agent, worker);
  switch (type) {
    case "accepted":
      return `by the relay from ${event.from ?? "its sender"}, ${evidenceWords(event)}`;
    case "delivered":
      return `to ${holder} under fence ${fence}${becauseWords(event)}`;
    case "acknowledged":
      return `by ${holder}, attempt ${event.attempt}, fence ${fence}, ${evidenceWords(event)}`;
    case "checkpointed":
      return `number ${event.number} by agent ${agent}, fence ${fence}`;
    case "asked":
      return `${questionName(event)}${asked === undefined ? "" : ` ${asked}`} by agent ${agent}, of ${event.to ? `capability ${event.to}` : "the sender"}${event.parked ? ", parked" : ""}`;
    case "answered":
      return `${questionName(event)} by ${by}, ${evidenceWords(event)}`;
    case "unanswered":
      return `${questionName(event)} was not answered in time`;
    case "parked":
      return `${questionName(event)}: agent ${agent} gave up its lease, fence ${fence}`;
    case "requeued":
      return requeuedWords(event, holder);
    case "unblocked":
      return "it is now the head of its ordering key";
    case "excluded":
      return `agent ${agent}${errorWords(event)}`;
    case "unfit_output":
      return `of agent ${agent}, fence ${fence}${errorWords(event)}`;
    case "late":
      return `${typeof event.state === "string" ? event.state : "outcome"} ${event.code ?? ""} by ${holder}, fence ${fence}: kept, changes nothing`;
    case "taken":
    case "discarded":
      return `by ${by}`;
    case "redriven":
      return `by ${by} as ${event.to}`;
    case "routed":
      return `the dead letter went on as ${event.to}`;
    case "purged":
      return "state and payloads were dropped by retention";
    default:
      return isEnd(type) ? endWords(event, holder) : "";
  }
}

function becauseWords({ why }: StoryEvent): string {
  const because = why === undefined || typeof why === "string" ? null : routedWords(why);
  return because === null ? "" : `: ${because}`;
}

function requeuedWords(event: StoryEvent, holder: string): string {
  const wait =
    event.ready_at !== undefined && event.ready_at > event.at ? `, again ${ahead(event.ready_at, event.at)}` : "";
  const of = holder === "" ? "" : ` by ${holder}`;
  const code = event.code === null || event.code === undefined ? "" : ` ${event.code}`;
  return `${requeueReason(event).replaceAll("_", " ")}${code}${of}${errorWords(event)}${wait}`;
}

function endWords(event: StoryEvent, holder: string): string {
  const { code, by, fence } = event;
  const who = by ? ` by ${by}` : holder === "" ? " by the relay" : ` by ${holder}, fence ${fence}`;
  const proof = event.evidence === "relay" ? "" : `, ${evidenceWords(event)}`;
  return `${code}${who}${proof}${errorWords(event)}`;
}

function evidenceWords({ evidence }: StoryEvent): string {
  return evidence === "relay" ? "by the relay itself" : (evidence ?? "no evidence told");
}

function errorWords({ error }: StoryEvent): string {
  return error === null || error === undefined ? "" : `: ${shorten(error.message, message_chars)}`;
}

function questionName({ question }: StoryEvent): string {
  return question === undefined ? "a question" : question.slice(question.indexOf(":") + 1);
}
