/** A correlation as a tree by causation, with how each handoff goes, and totals. */

import type { CorrelationNode, HandoffView, Operations } from "@handfast/protocol/wire";
import { span } from "../../moments.ts";
import { table } from "../../table.ts";
import { type Look, paintState } from "../look.ts";
import { counted, shortId, targetName } from "../names.ts";
import { shorten } from "../payload-text.ts";

export type Correlation = Operations["correlation"]["reply"];

export function treeLines({ tree, summary, correlation_id, cursor }: Correlation, look: Look): readonly string[] {
  const rows = tree.flatMap((node) => nodeRows(node, "", "", look));
  return [
    `${look.style("bold", "correlation")} ${correlation_id}`,
    ...table(rows),
    look.style("dim", `${totals(summary)}${cursor === null ? "" : ", and more than one answer holds"}`),
  ];
}

/** `first` stands before the node itself, `rest` before what is below it. */
function nodeRows({ handoff, children }: CorrelationNode, first: string, rest: string, look: Look): string[][] {
  const own = [`${first}${targetName(handoff)}`, ...cells(handoff, look)];
  const below = children.flatMap((child, at) => {
    const isLast = at === children.length - 1;
    return nodeRows(child, `${rest}${isLast ? "└─ " : "├─ "}`, `${rest}${isLast ? "   " : "│  "}`, look);
  });
  return [own, ...below];
}

function cells(handoff: HandoffView, look: Look): string[] {
  const { state, code, lease, outcome, accepted_at, ended_at, attempts } = handoff;
  const agent = lease?.agent ?? outcome?.agent ?? "";
  const tries = attempts > 1 ? `, attempt ${attempts}` : "";
  return [
    `${paintState(state, look)} ${code}`,
    agent === "" ? "–" : agent,
    span((ended_at ?? look.now) - accepted_at),
    look.full ? handoff.id : shortId(handoff.id),
    `${howFar(handoff)}${tries}`.replace(/^, /, ""),
  ];
}

function howFar({ progress, outcome, question, ended_at }: HandoffView): string {
  if (ended_at !== null) return outcome?.error === null ? "" : shorten(outcome?.error?.message ?? "", 60);
  if (question !== null) return `asks ${question.to === null ? "the sender" : question.to}`;
  if (progress === null) return "";
  const share = progress.fraction === null ? "" : `${Math.round(progress.fraction * 100)} %`;
  return `${share} ${progress.note === null ? "" : shorten(progress.note, 40)}`.trim();
}

export function totals(summary: Correlation["summary"]): string {
  const states = Object.entries(summary.by_state).map(([state, count]) => `${count} ${state}`);
  return `${counted(summary.total, "handoff")}: ${states.join(", ")}`;
}
