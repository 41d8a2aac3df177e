/** A handoff as `show` prints it: head, timeline, attempts, clocks, receipts, and whatever else it has. */

import type { HandoffView } from "@handfast/protocol/wire";
import { ago, exactly, span } from "../../moments.ts";
import { table } from "../../table.ts";
import { deliveriesOf } from "../attempts.ts";
import { fiveClocks } from "../clocks.ts";
import { eventWords } from "../event-words.ts";
import { type Look, paintState } from "../look.ts";
import { meter } from "../meter.ts";
import { counted, holderWords, targetName, targetWords } from "../names.ts";
import { payloadText, shorten } from "../payload-text.ts";
import { routedWords } from "../routed-words.ts";
import type { StoryEvent } from "../story-event.ts";
import { timeoutOf } from "../why/held.ts";
import { questionLines } from "./question-lines.ts";
import { receiptLines } from "./receipt-lines.ts";
import type { Story } from "./story.ts";

export function showLines(story: Story, look: Look): readonly string[] {
  const { view, facts, questions } = story;
  return [
    ...headLines(view, look),
    ...section("timeline", timelineLines(facts.events, view.accepted_at, look), look),
    ...section("attempts", attemptLines(facts.events, look), look),
    ...section("clocks", clockLines(story, look), look),
    ...section("receipts", receiptLines(story, look), look),
    ...section(
      "questions",
      questions.flatMap((question) => questionLines(question, look)),
      look,
    ),
    ...section("late outcomes", lateLines(view, look), look),
    ...section("children", childLines(facts.children, look), look),
  ];
}

function section(title: string, lines: readonly string[], { style }: Look): readonly string[] {
  return lines.length === 0 ? [] : ["", style("bold", title), ...lines.map((line) => `  ${line}`)];
}

function headLines(view: HandoffView, look: Look): readonly string[] {
  const { style, now, full } = look;
  const when = full ? exactly(view.accepted_at) : ago(view.accepted_at, now);
  const group = view.correlation_id === view.id ? "" : ` · correlation ${view.correlation_id}`;
  const parent = view.causation === null ? "" : ` · child of ${view.causation.id}`;
  const rows = [
    ["from", `${view.from} to ${targetWords(view)} · ${when}${group}${parent}`],
    ...more(view, look),
    ["input", payloadLine(view, view.payload, look)],
    ...outcomeRows(view, look),
  ];
  const kind = view.kind === "notice" ? "notice" : "handoff";
  return [
    `${style("bold", `${kind} ${view.id}`)}  ${paintState(view.state, look)} ${view.code} ${view.name}`,
    ...table(rows.map(([name = "", text = ""]) => [`  ${name}`, text])),
  ];
}

function more(view: HandoffView, { now }: Look): string[][] {
  const labels = Object.entries(view.labels).map(([key, value]) => `${key}:${shorten(value, 40)}`);
  const { dead_letter: letter, progress, checkpoint } = view;
  const rows: string[][] = [];
  if (view.contract !== undefined) rows.push(["contract", view.contract]);
  if (view.ordering_key !== null) rows.push(["order", `key ${shorten(JSON.stringify(view.ordering_key), 60)}`]);
  const asked = versionWords(view);
  if (asked !== null) rows.push(["version", asked]);
  const because = view.why === null ? null : routedWords(view.why);
  if (because !== null) rows.push(["routed", because]);
  if (view.conversation_id !== null) {
    rows.push(["conversation", shorten(JSON.stringify(view.conversation_id), 60)]);
  }
  if (labels.length > 0) rows.push(["labels", labels.join(" ")]);
  if (view.redrive_of !== null) rows.push(["redrive", `of ${view.redrive_of} by ${view.redriven_by ?? view.from}`]);
  if (progress !== null) rows.push(["progress", progressText(progress, now)]);
  if (checkpoint !== null)
    rows.push(["checkpoint", `number ${checkpoint.number}, written under fence ${checkpoint.fence}`]);
  if (letter !== null) {
    const done =
      letter.status === "redriven" ? ` as ${letter.id} by ${letter.by}` : letter.by ? ` by ${letter.by}` : "";
    rows.push(["dead letter", `${letter.status}${done}`]);
  }
  return rows;
}

function versionWords({ version_range, canary }: HandoffView): string | null {
  if (version_range !== null) return `${version_range}, as its sender asks`;
  return canary === null ? null : `${canary}, by a route`;
}

function progressText(progress: NonNullable<HandoffView["progress"]>, now: number): string {
  const { fraction, note, at } = progress;
  const share = fraction === null ? "" : `${meter(fraction, 1)} ${Math.round(fraction * 100)} % `;
  return `${share}${note === null ? "" : `${shorten(note, 80)} `}(${ago(at, now)})`;
}

function payloadLine(forms: object, digest: { media_type: string; size: number }, look: Look): string {
  const text = payloadText(forms, { full: look.full, width: Math.max(20, look.width - 45) });
  const about = look.style("dim", `(${digest.media_type}, ${counted(digest.size, "byte")})`);
  return text === null ? `not kept ${about}` : `${text} ${about}`;
}

function outcomeRows({ outcome, state }: HandoffView, look: Look): string[][] {
  if (outcome === null) return [];
  const rows: string[][] = [];
  if (outcome.payload !== null) rows.push(["output", payloadLine(outcome, outcome.payload, look)]);
  if (outcome.error !== null) {
    const { reason, message } = outcome.error;
    rows.push([
      state === "canceled" ? "reason" : "error",
      `${shorten(message, look.full ? 4_096 : look.width)} (${reason})`,
    ]);
  }
  if (outcome.artifacts.length > 0) rows.push(["artifacts", outcome.artifacts.join(" ")]);
  if (outcome.usage !== null) rows.push(["usage", `cost ${outcome.usage.cost}, tokens ${outcome.usage.tokens}`]);
  return rows;
}

/** Every event with how long after the first it came; in full also when that was. */
export function timelineLines(events: readonly StoryEvent[], since: number, look: Look): readonly string[] {
  const { style, full } = look;
  const rows = events.map((event) => [
    style("dim", full ? exactly(event.at) : `+${span(event.at - since)}`),
    paintState(event.type, { style: isNeutral(event.type) ? (_, text) => text : style }),
    eventWords(event),
  ]);
  return table(rows);
}

const coloured = new Set(["completed", "failed", "rejected", "expired", "canceled"]);

function isNeutral(type: string): boolean {
  return !coloured.has(type);
}

function attemptLines(events: readonly StoryEvent[], look: Look): readonly string[] {
  const rows = deliveriesOf(events).map((delivery) => {
    const { attempt, fence, agent, worker, acknowledged_at, delivered_at, over_at, checkpoints } = delivery;
    const ran = (over_at ?? look.now) - (acknowledged_at ?? delivered_at);
    const said = delivery.error === null ? "" : `: ${shorten(delivery.error, look.width)}`;
    const result = (delivery.result ?? "goes on").replaceAll("_", " ");
    const code = delivery.code === null ? "" : ` ${delivery.code}`;
    return [
      attempt === null ? "unacknowledged" : `attempt ${attempt}`,
      `fence ${fence}`,
      holderWords(agent, worker),
      span(ran),
      `${result}${code}${checkpoints === 0 ? "" : `, ${counted(checkpoints, "checkpoint")}`}${said}`,
    ];
  });
  return table(rows);
}

function clockLines({ view, facts }: Story, look: Look): readonly string[] {
  const { events, now } = facts;
  const timeout_ms = timeoutOf(view, facts);
  const clocks = fiveClocks(view, { events, timeout_ms, now });
  const rows = clocks.map(({ name, limit_ms, used_ms, state }) => {
    const bar = meter(used_ms, limit_ms);
    const left = state === "running" ? `, ${span(limit_ms - used_ms)} left` : "";
    const words = state === "idle" ? `${span(limit_ms)}, not running` : `${span(used_ms)} of ${span(limit_ms)}${left}`;
    return [name, state === "running" ? look.style("cyan", bar) : look.style("dim", bar), words];
  });
  const used = `attempts ${view.attempts} of ${view.limits.max_attempts} · unacknowledged deliveries ${view.deliveries} of ${view.limits.max_deliveries}`;
  return [...table(rows), look.style("dim", used)];
}

function lateLines({ late }: HandoffView, look: Look): readonly string[] {
  return table(
    late.map(({ at, state, outcome }) => [
      `fence ${outcome.fence}`,
      `${state} ${outcome.code}`,
      holderWords(outcome.agent ?? "", outcome.worker),
      look.full ? exactly(at) : ago(at, look.now),
      payloadText(outcome, { full: false, width: 60 }) ?? outcome.error?.message ?? "",
    ]),
  );
}

function childLines(children: readonly HandoffView[], look: Look): readonly string[] {
  return table(
    children.map((child) => [
      child.id,
      targetName(child),
      `${paintState(child.state, look)} ${child.code}`,
      ago(child.accepted_at, look.now),
    ]),
  );
}
