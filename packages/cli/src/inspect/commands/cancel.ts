/** `handfast cancel`: calls a handoff off. */

import type { HandoffView } from "@handfast/protocol/wire";
import type { Command } from "../../command.ts";
import { asParty } from "../as-party.ts";
import { fullId } from "../find-handoff.ts";
import { holderWords } from "../names.ts";

export const cancelCommand: Command = {
  name: "cancel",
  summary: "Calls a handoff off; its worker is told.",
  description: "The first commit wins: a handoff that has ended stays as it ended, and the exit code is 1.",
  arguments: [{ name: "id", help: "Of the handoff; its beginning or end is enough." }],
  options: [{ flags: "--reason <text>", help: "For the worker and the record." }],
  examples: [{ line: 'cancel 0000abcd --reason "no longer needed"', help: "its open children are canceled too" }],
  connects: true,
  async run(context) {
    const {
      terminal,
      arguments: [given = ""],
      options,
    } = context;
    const reason = options.text("reason");
    const { view, isDone } = await asParty(context, async (client) => {
      const handle = client.handle(await fullId(client, given));
      const before = await handle.status();
      if (before.ended_at !== null) return { view: before, isDone: false };
      const after = await handle.cancel(reason);
      return { view: after, isDone: after.state === "canceled" };
    });
    if (terminal.json) terminal.document(view);
    else
      terminal.print(
        isDone ? canceled(view) : `not canceled: ${view.id} had already ended as ${view.state} ${view.code}`,
      );
    terminal.next(`handfast show ${view.id}`);
    return isDone ? "ok" : "ended";
  },
};

function canceled({ id, outcome }: HandoffView): string {
  return `canceled ${id}${outcome?.agent ? `; ${holderWords(outcome.agent, outcome.worker)} is told` : ""}`;
}
