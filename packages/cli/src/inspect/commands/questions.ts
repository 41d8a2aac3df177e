/** `handfast questions`: what agents ask and nobody has answered yet. */

import type { Operations, QuestionView } from "@handfast/protocol/wire";
import type { Command } from "../../command.ts";
import { lookOf } from "../look.ts";
import { counted } from "../names.ts";
import type { Reader } from "../relay-reads.ts";
import { questionLines } from "../show/question-lines.ts";

export const questionsCommand: Command = {
  name: "questions",
  summary: "Lists open questions that were put to you.",
  description:
    "To you as the sender of a handoff, or because you offer the capability that was asked. An operator sees all.",
  options: [{ flags: "--full", help: "Whole questions, and exact times." }],
  examples: [
    { line: "questions", help: "put to you" },
    { line: "questions --agent desk", help: "put to the agent desk" },
  ],
  connects: true,
  async run({ terminal, options, connect }) {
    const questions = await openQuestions(await connect("agent"));
    if (terminal.json) {
      terminal.document({ questions, cursor: null });
      return "ok";
    }
    const look = lookOf(terminal, options.flag("full"));
    for (const question of questions) for (const line of questionLines(question, look)) terminal.print(line);
    terminal.note(questions.length === 0 ? "No open questions." : `${counted(questions.length, "open question")}.`);
    const [first] = questions;
    if (first !== undefined) terminal.next(`handfast answer ${first.id} VALUE`);
    return "ok";
  },
};

export async function openQuestions(relay: Reader): Promise<readonly QuestionView[]> {
  const found: QuestionView[] = [];
  let cursor: string | null = null;
  do {
    const query: Operations["questions"]["query"] = cursor === null ? { limit: 500 } : { limit: 500, cursor };
    const page: Operations["questions"]["reply"] = await relay.call("questions", { query });
    found.push(...page.questions);
    cursor = page.cursor;
  } while (cursor !== null);
  return found;
}
