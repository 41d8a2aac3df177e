/** Why a handoff is with a worker: offered, worked on, or waiting for an answer. */

import type { HandoffView } from "@handfast/protocol/wire";
import { ago, moment, span } from "../../moments.ts";
import { counted, holderWords } from "../names.ts";
import { shorten, valueText } from "../payload-text.ts";
import type { Facts, Why } from "./facts.ts";

const note_chars = 80;
const question_chars = 120;

type Lease = NonNullable<HandoffView["lease"]>;

export function whyDelivered(view: HandoffView, { now }: Facts): Why {
  const { lease, limits, deliveries } = view;
  if (lease === null) return unheld(view);
  const until = lease.delivered_at + limits.ack_ms;
  const used = `${deliveries} of ${limits.max_deliveries} unacknowledged deliveries used`;
  const then = deliveries + 1 >= limits.max_deliveries ? "it fails with 504" : "it goes back to the queue";
  const wait =
    until > now
      ? `without an ack by ${moment(until, now)} ${then}`
      : `its ack is overdue since ${span(now - until)}, which only a relay that has just come back allows; without one ${then}`;
  return {
    sentence: `Offered to ${holderWords(lease.agent, lease.worker)} ${ago(lease.delivered_at, now)} under fence ${lease.fence} and not acknowledged yet: ${wait} (${used}).`,
    next: [`handfast watch ${view.id}`],
  };
}

export function whyWorking(view: HandoffView, facts: Facts): Why {
  const { lease, attempts, limits } = view;
  if (lease === null) return unheld(view);
  const { now } = facts;
  const children = facts.children.filter(({ ended_at }) => ended_at === null);
  const who = holderWords(lease.agent, lease.worker);
  const below = children.length === 0 ? "" : `, with ${counted(children.length, "open child", "open children")}`;
  return {
    sentence: `${capital(who)} works on attempt ${attempts} of ${limits.max_attempts}${progressWords(view)}${below}, last beat ${ago(lease.beat_at, now)}${unfitWords(lease, facts)}: it moves with its outcome${clockWords(view, lease, facts)}.`,
    next: children.length === 0 ? [`handfast watch ${view.id}`] : [`handfast tree ${view.correlation_id}`],
  };
}

function progressWords({ progress }: HandoffView): string {
  if (progress === null) return "";
  const share = progress.fraction === null ? "" : `${Math.round(progress.fraction * 100)} %`;
  const note = progress.note === null ? "" : JSON.stringify(shorten(progress.note, note_chars));
  const told = [share, note].filter((part) => part !== "").join(" ");
  return told === "" ? "" : ` (${told})`;
}

function unfitWords({ fence }: Lease, { events }: Facts): string {
  const refused = events.filter((event) => event.type === "unfit_output" && event.fence === fence);
  const last = refused.at(-1);
  if (last === undefined) return "";
  const why = last.error ? ` (${shorten(last.error.message, question_chars)})` : "";
  return `, its output refused ${refused.length === 1 ? "once" : `${refused.length} times`}${why}`;
}

function clockWords(view: HandoffView, lease: Lease, facts: Facts): string {
  const { now } = facts;
  const { attempt_until, lease_until: beat_until } = lease;
  const last = view.limits.retry === "until_ack" || view.attempts >= view.limits.max_attempts;
  const lost = last ? "it fails with 521" : "another attempt begins";
  const attempt =
    attempt_until === null || attempt_until >= view.deadline_at
      ? ""
      : `, the attempt ends at ${moment(attempt_until, now)}`;
  return `; without a beat by ${moment(beat_until, now)} ${lost}${attempt}, and the deadline is ${moment(view.deadline_at, now)}`;
}

/** What the manifest of whoever holds it, or held it last, allows for one attempt. */
export function timeoutOf(view: HandoffView, { agents }: Pick<Facts, "agents">): number | null {
  const { lease, outcome, capability } = view;
  const holder = lease?.agent ?? outcome?.agent;
  const offered = agents.find(({ name }) => name === holder)?.capabilities ?? [];
  const seconds = offered.find(({ name }) => name === capability)?.timeout_seconds;
  return seconds === undefined ? null : seconds * 1_000;
}

export function whyWaiting(view: HandoffView, facts: Facts): Why {
  const { question: open } = view;
  if (open === null) return unheld(view);
  const { now, me, question } = facts;
  const mine = me === null || question !== null || (open.to === null && me === view.from);
  const whom =
    open.to === null
      ? me === view.from
        ? `you (${view.from}, the sender),`
        : `${view.from}, the sender,`
      : `whoever offers ${open.to}`;
  const asked =
    question?.question === undefined
      ? open.id.slice(open.id.indexOf(":") + 1)
      : valueText(question.question, { full: false, width: question_chars });
  const meanwhile =
    view.lease === null
      ? "it is parked, and fails with 408 without an answer"
      : `${holderWords(view.lease.agent, view.lease.worker)} keeps its lease, and is told so without an answer`;
  return {
    sentence: `Waiting for an answer from ${whom} to ${asked}, due by ${moment(open.answer_by, now)}: ${meanwhile}.`,
    next: mine ? [`handfast answer ${open.id} VALUE`] : [`handfast watch ${view.id}`],
  };
}

/** A view that contradicts itself: a newer relay may know states of a handoff that this command does not. */
function unheld({ id, state }: HandoffView): Why {
  return { sentence: `The relay says ${state} without saying who holds it.`, next: [`handfast show ${id}`] };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
