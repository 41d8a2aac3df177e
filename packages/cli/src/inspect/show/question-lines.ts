/** A question in a few lines: who asks whom, what, and what came of it. */

import type { QuestionView } from "@handfast/protocol/wire";
import { ago, exactly, span } from "../../moments.ts";
import type { Look } from "../look.ts";
import { valueText } from "../payload-text.ts";

export function questionLines(question: QuestionView, look: Look): readonly string[] {
  const { id, agent, to, open, resolution, answer_by, asked_at } = question;
  const size = { full: look.full, width: Math.max(20, look.width - 20) };
  const whom = to === null ? `the sender ${question.from}` : `capability ${to}`;
  const asked = `${look.style("bold", id)}  from ${agent} to ${whom}, ${look.full ? exactly(asked_at) : ago(asked_at, look.now)}`;
  const lines = [
    asked,
    `  asks     ${question.question === undefined ? "(not kept)" : valueText(question.question, size)}`,
  ];
  if (question.schema !== undefined && (open || look.full))
    lines.push(`  expects  ${valueText(question.schema, size)}`);
  if (resolution === "answered") {
    const text = question.answer === undefined ? "(not kept)" : valueText(question.answer, size);
    return [...lines, `  answer   ${text} by ${question.by}`];
  }
  if (!open) return [...lines, "  not answered"];
  return [
    ...lines,
    `  due      ${look.full ? exactly(answer_by) : span(answer_by - look.now)}${look.full ? "" : " left"}`,
  ];
}
