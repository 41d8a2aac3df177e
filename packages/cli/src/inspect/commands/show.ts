/** `handfast show`: everything about one handoff. */

import type { Client } from "@handfast/client";
import type { QuestionView } from "@handfast/protocol/wire";
import type { Command } from "../../command.ts";
import { callerName } from "../caller-name.ts";
import { fullId } from "../find-handoff.ts";
import { lookOf } from "../look.ts";
import { codeOf, orNull } from "../relay-reads.ts";
import { showLines } from "../show/show-lines.ts";
import type { StoryEvent } from "../story-event.ts";
import { gatherFacts } from "../why/gather-facts.ts";
import { why } from "../why/why.ts";

export const showCommand: Command = {
  name: "show",
  summary: "Shows a handoff: timeline, attempts, clocks, receipts.",
  description: "The beginning or the end of an id is enough where only one recent handoff fits.",
  arguments: [{ name: "id", help: "Of the handoff." }],
  options: [
    { flags: "--full", help: "Whole payloads, and exact times in place of relative ones." },
    { flags: "--verify", help: "Checks every signature here, offline, with the keys of the agents." },
  ],
  examples: [
    { line: "show 019a8b5e-1c00-7000-8000-00000000abcd", help: "a handoff by its id" },
    { line: "show 0000abcd --verify", help: "the end of the id is enough; check the signatures" },
    { line: "show 0000abcd --json", help: "the handoff with its events and questions, as the wire has them" },
  ],
  connects: true,
  async run({ terminal, arguments: [given = ""], options, connect }) {
    const client = await connect("operator");
    const id = await fullId(client, given);
    const view = await client.call("get", { params: { id }, query: { input: true } });
    const facts = await gatherFacts(client, view, callerName(client));
    const questions = await questionsOf(client, facts.events);
    const checked = options.flag("verify") ? { fault: await proofFault(client, id) } : null;
    const isSound = checked === null || checked.fault === null;
    if (terminal.json) {
      const proven = checked === null ? {} : { checked };
      terminal.document({ handoff: view, events: facts.events, questions, children: facts.children, ...proven });
      return isSound ? "ok" : "denied";
    }
    for (const line of showLines({ view, facts, questions, checked }, lookOf(terminal, options.flag("full")))) {
      terminal.print(line);
    }
    const own = `handfast show ${id}`;
    for (const line of why(view, facts).next) if (line !== own) terminal.next(line);
    if (!isSound) terminal.note("A signature or what it covers does not hold: trust this record no further.");
    return isSound ? "ok" : "denied";
  },
};

/** What does not hold of its documents; null: every signature is its author's, and over what is shown. */
async function proofFault(client: Client, id: string): Promise<string | null> {
  try {
    await client.handle(id).proofs();
    return null;
  } catch (error) {
    if (codeOf(error) === 401 && error instanceof Error) return error.message;
    throw error;
  }
}

async function questionsOf(client: Client, events: readonly StoryEvent[]): Promise<readonly QuestionView[]> {
  const ids = events.flatMap(({ type, question }) => (type === "asked" && question !== undefined ? [question] : []));
  const found = await Promise.all(ids.map((id) => orNull(client.call("question", { params: { id } }))));
  return found.filter((question) => question !== null);
}
