/** `handfast answer`: answers an open question. */

import type { QuestionView } from "@handfast/protocol/wire";
import type { Command, Context } from "../../command.ts";
import { CliError } from "../../errors.ts";
import { readInput } from "../../send/input.ts";
import { answerFault } from "../answer-fit.ts";
import { asParty } from "../as-party.ts";
import { nearest } from "../nearest.ts";
import { valueText } from "../payload-text.ts";
import { orNull, type Reader } from "../relay-reads.ts";
import { openQuestions } from "./questions.ts";

export const answerCommand: Command = {
  name: "answer",
  summary: "Answers a question.",
  description:
    "The value is JSON; @file reads it from a file, - from stdin. The end of a question's id is enough where only one fits.",
  arguments: [
    { name: "question", help: "Its id, as `handfast questions` shows it." },
    { name: "value", help: "The answer: JSON, or text with --text; @file takes it from a file." },
  ],
  options: [{ flags: "--text", help: "The value is text, not JSON." }],
  examples: [
    { line: "answer 019a8b5e-1c00-7000-8000-00000000abcd:colour '\"red\"'", help: "JSON" },
    { line: "answer colour --text red", help: "text, to the only open question named colour" },
    { line: "answer colour @answer.json", help: "from a file" },
  ],
  connects: true,
  async run(context) {
    const {
      terminal,
      arguments: [given = "", value = ""],
      options,
      cwd,
    } = context;
    const answered = await asParty(context, async (client) => {
      const question = await findQuestion(client, given);
      const answer = await readInput({
        word: value,
        text: options.flag("text"),
        files: false,
        cwd,
        stdin: process.stdin,
      });
      checkFit(question, answer);
      return client.answer(question.id, answer);
    });
    if (terminal.json) terminal.document(answered);
    else await tellWhatHappened(context, answered);
    return "ok";
  },
};

async function findQuestion(relay: Reader, given: string): Promise<QuestionView> {
  const whole = given.includes(":") ? await orNull(relay.call("question", { params: { id: given } })) : null;
  if (whole !== null) return whole;
  const open = await openQuestions(relay);
  const [one, ...others] = open.filter(({ id }) => id.endsWith(given) || nameOf(id) === given);
  if (one !== undefined && others.length === 0) return one;
  if (one !== undefined) {
    const ids = [one, ...others].slice(0, 5).map(({ id }) => id);
    throw new CliError(
      "usage",
      `${others.length + 1} open questions are called ${given}.`,
      `Give more:\n${ids.join("\n")}`,
    );
  }
  const near = nearest(
    given,
    open.flatMap(({ id }) => [id, nameOf(id)]),
  );
  const hint = near === null ? "`handfast questions` lists those that are put to you." : `Did you mean ${near}?`;
  throw new MissingQuestion(given, hint);
}

/** With the relay's own code, so that it is looked for as the operator too. */
class MissingQuestion extends CliError {
  readonly code = 404;

  constructor(given: string, hint: string) {
    super("missing", `No question ${given} is put to you.`, hint, "unknown_question");
  }
}

function nameOf(id: string): string {
  return id.slice(id.indexOf(":") + 1);
}

function checkFit({ id, schema }: QuestionView, answer: unknown): void {
  const fault = answerFault(answer, schema);
  if (fault === null) return;
  const expected = valueText(schema, { full: false, width: 300 });
  throw new CliError("data", `The answer to ${id} does not fit: ${fault}.`, `It expects ${expected}`, "answer_unfit");
}

async function tellWhatHappened({ terminal, connect }: Context, { id, handoff, agent }: QuestionView): Promise<void> {
  const view = await orNull((await connect("operator")).call("get", { params: { id: handoff } }));
  const then =
    view === null
      ? `agent ${agent} goes on`
      : view.state === "queued"
        ? "the handoff was parked and is queued again"
        : `the handoff is ${view.state}${view.lease === null ? "" : ` at agent ${view.lease.agent}`}`;
  terminal.print(`answered ${id}: ${then}`);
  terminal.next(`handfast watch ${handoff}`);
}
