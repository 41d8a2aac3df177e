/** `handfast outcomes`: what was handed off, has ended, and was never taken. */

import type { Client, Handle } from "@handfast/client";
import type { HandoffView } from "@handfast/protocol/wire";
import type { Command, Context } from "../../command.ts";
import type { ExitName } from "../../exit-codes.ts";
import { ago, exactly } from "../../moments.ts";
import { titled } from "../../table.ts";
import { fullId } from "../find-handoff.ts";
import { type Look, lookOf, paintState } from "../look.ts";
import { counted, targetName } from "../names.ts";
import { payloadText, shorten } from "../payload-text.ts";

type Waiting = Handle & { readonly view: HandoffView };

export const outcomesCommand: Command = {
  name: "outcomes",
  summary: "Lists outcomes of your handoffs that were never taken, and takes them.",
  description:
    "The relay keeps an outcome until its sender has taken it, or for 30 days. Reading is not taking.\n" +
    "With --json the list is one document; with --follow each outcome is a line.",
  arguments: [{ name: "id", help: "Only these.", optional: true, many: true }],
  options: [
    { flags: "--take", help: "Confirm that they were received; the relay need not keep them any longer." },
    { flags: "--follow", help: "Go on with those that come, until Ctrl-C." },
    { flags: "--full", help: "Whole outputs, and exact times." },
  ],
  examples: [
    { line: "outcomes", help: "what waits for you" },
    { line: "outcomes --take", help: "take them all" },
    { line: "outcomes --follow --take --json", help: "a queue of results for a script" },
  ],
  connects: true,
  async run(context) {
    const { arguments: given, options, connect } = context;
    const client = await connect("agent");
    const wanted = new Set<string>();
    for (const each of given) wanted.add(await fullId(client, each));
    return options.flag("follow") ? followOutcomes(context, client, wanted) : listOutcomes(context, client, wanted);
  },
};

async function listOutcomes(context: Context, client: Client, wanted: ReadonlySet<string>): Promise<ExitName> {
  const { terminal, options, signal } = context;
  const found: Waiting[] = [];
  for await (const handle of client.outcomes({ follow: false, signal })) {
    if (wanted.size === 0 || wanted.has(handle.id)) found.push(handle);
  }
  const look = lookOf(terminal, options.flag("full"));
  const views = found.map(({ view }) => view);
  if (terminal.json) terminal.document({ outcomes: views, cursor: null });
  else terminal.lines(look.full ? views.flatMap((view) => wholeLines(view, look)) : outcomeTable(views, look));
  // Shown first, taken after: what broke off in between is shown again, never lost.
  if (options.flag("take")) for (const handle of found) await handle.take({ signal });
  return tellCount(context, found.length, wanted);
}

async function followOutcomes(context: Context, client: Client, wanted: ReadonlySet<string>): Promise<ExitName> {
  const { terminal, options, signal } = context;
  let count = 0;
  for await (const handle of client.outcomes({ follow: true, signal })) {
    if (wanted.size > 0 && !wanted.has(handle.id)) continue;
    count += 1;
    const look = lookOf(terminal, options.flag("full"));
    if (terminal.json) terminal.jsonLine(handle.view);
    else terminal.lines(look.full ? wholeLines(handle.view, look) : [outcomeCells(handle.view, look).join("  ")]);
    if (options.flag("take")) await handle.take({ signal });
    if (wanted.size > 0 && count === wanted.size) break;
  }
  return tellCount(context, count, wanted);
}

function tellCount({ terminal, options }: Context, count: number, wanted: ReadonlySet<string>): ExitName {
  const take = options.flag("take");
  const none = wanted.size > 0 ? "None of these waits to be taken." : "No outcome waits to be taken.";
  terminal.note(count === 0 ? none : `${counted(count, "outcome")}${take ? " taken" : ", not taken"}.`);
  if (count > 0 && !take) terminal.next("handfast outcomes --take");
  return wanted.size > 0 && count === 0 ? "missing" : "ok";
}

function outcomeTable(views: readonly HandoffView[], look: Look): readonly string[] {
  if (views.length === 0) return [];
  const rows = views.map((view) => outcomeCells(view, look));
  return titled(["id", "target", "ended", "age", "outcome"], rows, look);
}

function outcomeCells(view: HandoffView, look: Look): readonly string[] {
  const { id, state, code } = view;
  return [id, targetName(view), `${paintState(state, look)} ${code}`, whenEnded(view, look), saidIn(view, look)];
}

function wholeLines(view: HandoffView, look: Look): readonly string[] {
  return [outcomeCells(view, look).slice(0, -1).join("  "), saidIn(view, look)];
}

function whenEnded({ ended_at }: HandoffView, { full, now, style }: Look): string {
  if (ended_at === null) return "";
  return style("dim", full ? exactly(ended_at) : ago(ended_at, now));
}

function saidIn({ outcome }: HandoffView, look: Look): string {
  const size = { full: look.full, width: 160 };
  return (outcome && payloadText(outcome, size)) ?? (outcome?.error ? shorten(outcome.error.message, 160) : "");
}
