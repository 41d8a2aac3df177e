/** `handfast tree`: a correlation as a tree by causation. */

import type { Operations } from "@handfast/protocol/wire";
import type { Command, Context } from "../../command.ts";
import { fullCorrelation } from "../find-handoff.ts";
import { lookOf } from "../look.ts";
import type { Reader } from "../relay-reads.ts";
import { joinTrees } from "../tree/join-trees.ts";
import { type Correlation, totals, treeLines } from "../tree/tree-lines.ts";
import { correlationPages } from "../watch/follow-events.ts";

export const treeCommand: Command = {
  name: "tree",
  summary: "Shows a correlation as a tree: who gave what to whom, and how each part goes.",
  arguments: [{ name: "correlation", help: "Its id, or the id of any handoff of it." }],
  options: [
    { flags: "--follow", help: "Goes on until everything has ended, then shows the tree again." },
    { flags: "--full", help: "Whole ids." },
  ],
  examples: [
    { line: "tree nightly-7", help: "states, agents, durations, totals" },
    { line: "tree nightly-7 --follow", help: "until everything has ended" },
  ],
  connects: true,
  async run(context) {
    const {
      arguments: [given = ""],
      options,
      connect,
      signal,
    } = context;
    const client = await connect("operator");
    const id = await fullCorrelation(client, given);
    let seen = await readTree(client, id);
    print(context, seen);
    if (options.flag("follow") && seen.summary.open > 0) {
      for await (const _ of correlationPages(client, id, signal)) {
        seen = await readTree(client, id);
        if (context.terminal.json) context.terminal.jsonLine(seen);
        else context.terminal.live(totals(seen.summary));
      }
      context.terminal.settle();
      if (!context.terminal.json) print(context, await readTree(client, id));
    }
    context.terminal.next(nextLine(seen, options.flag("follow")));
    return "ok";
  },
};

function nextLine({ summary, tree, correlation_id }: Correlation, followed: boolean): string {
  if ((summary.by_state["waiting"] ?? 0) > 0) return "handfast questions";
  if (summary.open > 0 && !followed) return `handfast tree ${correlation_id} --follow`;
  return `handfast show ${tree[0]?.handoff.id ?? correlation_id}`;
}

function print({ terminal, options }: Context, correlation: Correlation): void {
  if (terminal.json) return options.flag("follow") ? terminal.jsonLine(correlation) : terminal.document(correlation);
  for (const line of treeLines(correlation, lookOf(terminal, options.flag("full")))) terminal.print(line);
}

/** As many answers as it takes, made one. */
async function readTree(relay: Reader, id: string): Promise<Correlation> {
  const parts: Correlation[] = [];
  let cursor: string | null = null;
  do {
    const query: Operations["correlation"]["query"] = cursor === null ? {} : { cursor };
    const part: Correlation = await relay.call("correlation", { params: { id }, query });
    parts.push(part);
    cursor = part.cursor;
  } while (cursor !== null);
  return joinTrees(parts);
}
