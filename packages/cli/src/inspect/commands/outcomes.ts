/** `handfast outcomes`: what was handed off, has ended, and was never taken. */

import type { HandoffView } from "@handfast/protocol/wire";
import type { Command } from "../../command.ts";
import { ago, exactly } from "../../moments.ts";
import { fullId } from "../find-handoff.ts";
import { type Look, lookOf, paintState } from "../look.ts";
import { counted, targetName } from "../names.ts";
import { payloadText, shorten } from "../payload-text.ts";

export const outcomesCommand: Command = {
  name: "outcomes",
  summary: "Lists outcomes of your handoffs that were never taken, and takes them.",
  description: "The relay keeps an outcome until its sender has taken it, or for 30 days. Reading is not taking.",
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
  async run({ terminal, arguments: given, options, connect, signal }) {
    const client = await connect("agent");
    const take = options.flag("take");
    const follow = options.flag("follow");
    const wanted = new Set<string>();
    for (const each of given) wanted.add(await fullId(client, each));
    const look = lookOf(terminal, options.flag("full"));
    let count = 0;
    for await (const handle of client.outcomes({ follow, signal })) {
      if (wanted.size > 0 && !wanted.has(handle.id)) continue;
      count += 1;
      // Shown first, taken after: what broke off in between is shown again, never lost.
      if (terminal.json) terminal.jsonLine(handle.view);
      else terminal.print(outcomeLine(handle.view, { ...look, now: Date.now() }));
      if (take) await handle.take({ signal });
      if (wanted.size > 0 && count === wanted.size) break;
    }
    const none = wanted.size > 0 ? "None of these waits to be taken." : "No outcome waits to be taken.";
    const done = `${counted(count, "outcome")}${take ? " taken" : ", not taken"}.`;
    terminal.note(count === 0 ? none : done);
    if (count > 0 && !take) terminal.next("handfast outcomes --take");
    return wanted.size > 0 && count === 0 ? "missing" : "ok";
  },
};

function outcomeLine(view: HandoffView, look: Look): string {
  const { id, state, code, outcome, ended_at } = view;
  const when = ended_at === null ? "" : look.full ? exactly(ended_at) : ago(ended_at, look.now);
  const head = `${id}  ${targetName(view)}  ${paintState(state, look)} ${code}  ${look.style("dim", when)}`;
  const size = { full: look.full, width: Math.max(30, look.width - 80) };
  const said = (outcome && payloadText(outcome, size)) ?? (outcome?.error ? shorten(outcome.error.message, 80) : "");
  return look.full ? `${head}\n${said}` : `${head}  ${said}`.trimEnd();
}
