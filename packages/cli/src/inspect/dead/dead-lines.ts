/** Dead letters as they are printed: in a list, and one with everything that led to it. */

import type { DeadLetterView, HandoffView } from "@handfast/protocol/wire";
import { ago, exactly } from "../../moments.ts";
import { table, titled } from "../../table.ts";
import { type Look, paintState } from "../look.ts";
import { counted, targetName, targetWords } from "../names.ts";
import { payloadText, shorten } from "../payload-text.ts";
import { questionLines } from "../show/question-lines.ts";
import { timelineLines } from "../show/show-lines.ts";

export function deadListLines(letters: readonly HandoffView[], look: Look): readonly string[] {
  if (letters.length === 0) return [];
  const rows = letters.map((letter) => [
    letter.id,
    targetName(letter),
    letter.from,
    `${paintState(letter.state, look)} ${letter.code}`,
    letter.dead_letter?.status ?? "",
    whenEnded(letter, look),
    shorten(letter.outcome?.error?.message ?? letter.name, look.full ? 2_000 : 160),
  ]);
  return titled(["id", "target", "from", "ended", "status", "age", "reason"], rows, look);
}

function whenEnded({ ended_at }: HandoffView, { now, full }: Look): string {
  if (ended_at === null) return "";
  return full ? exactly(ended_at) : ago(ended_at, now);
}

export function deadLines(letter: DeadLetterView, look: Look): readonly string[] {
  const { handoff, reason, questions, events } = letter;
  const status = handoff.dead_letter?.status ?? "open";
  const input = payloadText(letter, { full: look.full, width: Math.max(20, look.width - 10) }) ?? "not kept";
  const failures = handoff.failures.map(({ fence, agent, worker, code, error }) => [
    `fence ${fence}`,
    `${agent}/${worker}`,
    String(code),
    shorten(error.message, look.full ? 2_000 : look.width),
  ]);
  return [
    `${look.style("bold", `dead letter ${handoff.id}`)}  ${status}`,
    `  ${paintState(handoff.state, look)} ${reason.code} ${reason.name}: ${shorten(reason.message, look.full ? 2_000 : look.width)} (${reason.reason})`,
    `  from ${handoff.from} to ${targetWords(handoff)}, ended ${whenEnded(handoff, look)}`,
    `  input ${input}`,
    ...part("failures", table(failures), look),
    ...part(
      "questions",
      questions.flatMap((question) => questionLines(question, look)),
      look,
    ),
    ...part("timeline", timelineLines(events, handoff.accepted_at, look), look),
    ...(handoff.late.length === 0
      ? []
      : [
          "",
          `${counted(handoff.late.length, "late outcome is", "late outcomes are")} kept: handfast show ${handoff.id}`,
        ]),
  ];
}

function part(title: string, lines: readonly string[], { style }: Look): readonly string[] {
  return lines.length === 0 ? [] : ["", style("bold", title), ...lines.map((line) => `  ${line}`)];
}
