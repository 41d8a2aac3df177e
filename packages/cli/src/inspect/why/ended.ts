/** Why a handoff ended as it did, and what can still be done about it. */

import { statusCode } from "@handfast/protocol/client";
import type { HandoffView } from "@handfast/protocol/wire";
import { ago, span } from "../../moments.ts";
import { counted, holderWords, targetWords } from "../names.ts";
import { shorten } from "../payload-text.ts";
import type { Facts, Why } from "./facts.ts";

const message_chars = 200;

export function whyEnded(view: HandoffView, facts: Facts): Why {
  const { sentence, next } = ended(view, facts);
  const late =
    view.late.length === 0 ? "" : `; ${counted(view.late.length, "late outcome is", "late outcomes are")} kept`;
  const dead = deadLetter(view, facts);
  return { sentence: `${sentence}${late}${dead.words}.`, next: dead.next ?? next };
}

function ended(view: HandoffView, facts: Facts): Why {
  const shown = [`handfast show ${view.id}`];
  switch (view.state) {
    case "completed":
      return completed(view, facts);
    case "canceled":
      return { sentence: canceled(view, facts), next: shown };
    case "rejected":
      return {
        sentence: `Rejected with 501 ${when(view, facts)} because everybody who could take it declined${said(view)}`,
        next: shown,
      };
    case "expired":
      return { sentence: expired(view, facts), next: shown };
    default:
      return { sentence: failed(view, facts), next: shown };
  }
}

function completed(view: HandoffView, facts: Facts): Why {
  const { outcome, attempts, taken_at, from, id } = view;
  const who = outcome?.agent ? ` by ${holderWords(outcome.agent, outcome.worker)}` : "";
  const how =
    view.kind === "notice"
      ? "a notice is completed by its ack"
      : `${counted(attempts, "attempt")}, ${outcome?.evidence ?? "no"} outcome`;
  const took = `after ${span((view.ended_at ?? view.accepted_at) - view.accepted_at)}`;
  if (taken_at !== null) {
    return {
      sentence: `Completed${who} ${when(view, facts)} ${took} (${how}) and taken by its sender: nothing more happens`,
      next: [`handfast show ${id}`],
    };
  }
  const mine = facts.me === from;
  return {
    sentence: `Completed${who} ${when(view, facts)} ${took} (${how}), its outcome kept until ${mine ? "you take" : `${from} takes`} it`,
    next: mine ? [`handfast outcomes --take ${id}`] : [`handfast show ${id}`],
  };
}

function canceled(view: HandoffView, facts: Facts): string {
  const by = facts.events.findLast(({ type }) => type === "canceled")?.by ?? null;
  const parent = view.causation === null ? "" : ` ${view.causation.id}`;
  const who =
    by === "relay"
      ? `the relay because its parent${parent} ended`
      : by === null
        ? "its sender or an operator"
        : by === view.from
          ? `its sender ${by}`
          : by;
  const reason = view.outcome?.error?.message;
  const own = reason === undefined || reason === `canceled by ${by}` ? "" : `: ${shorten(reason, message_chars)}`;
  return `Canceled ${when(view, facts)} by ${who}${own}`;
}

function expired(view: HandoffView, facts: Facts): string {
  if (view.code === 503) {
    return `Expired with 503 ${when(view, facts)} because no worker for ${targetWords(view)} took it within the ${span(view.limits.queue_ms)} of its queue clock`;
  }
  const span_ms = view.deadline_at - view.accepted_at;
  const where = view.outcome?.error?.message.match(/while the handoff was (\w+)/)?.[1];
  const state = where === undefined ? "" : ` while it was ${where}`;
  const holder = view.outcome?.agent ? ` at ${holderWords(view.outcome.agent, view.outcome.worker)}` : "";
  return `Expired with ${view.code} ${when(view, facts)} because its deadline of ${span(span_ms)} passed${state}${holder}${lastFailure(view)}`;
}

function failed(view: HandoffView, facts: Facts): string {
  const { code, outcome, attempts, limits } = view;
  const holder = outcome?.agent ? holderWords(outcome.agent, outcome.worker) : null;
  const head = `Failed with ${code} ${when(view, facts)} because`;
  const who = holder ?? "its worker";
  const used =
    limits.retry === "until_ack" ? "a second attempt is forbidden" : `attempt ${attempts} of ${limits.max_attempts}`;
  switch (`${code} ${outcome?.error?.reason ?? ""}`) {
    case "500 attempt_timeout":
      return `${head} ${who} ran past the attempt's time limit (${used})`;
    case "408 question_unanswered":
      return `${head} its question was not answered in time while it was parked`;
    case "504 not_acknowledged":
      return `${head} nobody acknowledged any of ${counted(limits.max_deliveries, "delivery", "deliveries")}, the last to ${who}`;
    case "521 agent_lost":
      return `${head} ${who} was not heard of within its lease (${used})`;
  }
  if (code === 502) return `${head} ${who} kept giving output that does not fit its schema${said(view)}`;
  if (code === 500) return `${head} ${who} said so (${used})${said(view)}`;
  return `${head} ${statusCode(code)?.meaning.replace(/\.$/, "") ?? `of code ${code}`}${said(view)}`;
}

function said({ outcome }: HandoffView): string {
  const message = outcome?.error?.message;
  return message === undefined || message === "" ? "" : `: ${shorten(message, message_chars)}`;
}

function lastFailure({ failures }: HandoffView): string {
  const last = failures.at(-1);
  return last === undefined
    ? ""
    : `, after ${last.agent} had come to nothing (${shorten(last.error.message, message_chars)})`;
}

function when({ ended_at }: HandoffView, { now }: Facts): string {
  return ended_at === null ? "" : ago(ended_at, now);
}

function deadLetter(view: HandoffView, { events, now }: Facts): { words: string; next?: readonly string[] } {
  const { dead_letter: letter, id } = view;
  if (letter === null) return { words: "" };
  const at = letter.at === undefined ? "" : ` ${ago(letter.at, now)}`;
  switch (letter.status) {
    case "redriven":
      return {
        words: `; its dead letter was redriven by ${letter.by}${at} as ${letter.id}`,
        next: [`handfast why ${letter.id}`],
      };
    case "discarded":
      return {
        words: `; its dead letter was discarded by ${letter.by}${at}: nothing more happens`,
        next: [`handfast show ${id}`],
      };
    default: {
      const routed = events.findLast(({ type }) => type === "routed");
      const went = routed?.to ? `, and went to ${view.dead_letter_to} as ${routed.to}` : "";
      return {
        words: `; it is an open dead letter${went}: redrive or discard it`,
        next: [`handfast dead redrive ${id}`, `handfast dead discard ${id}`],
      };
    }
  }
}
