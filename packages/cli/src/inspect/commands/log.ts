/** `handfast log`: the log as lines of JSON. */

import type { Command, Context } from "../../command.ts";
import { exportLog } from "../log-export.ts";

export const logCommand: Command = {
  name: "log",
  summary: "Exports the log: every interaction as a line of JSON.",
  description:
    "An agent gets what it has part in, an operator everything. Ends with what was in the log when it began.",
  options: [
    { flags: "--since <duration>", help: "Only what happened so long ago at most: 30m, 2h, 7d." },
    { flags: "--until <duration>", help: "Only what happened so long ago at least." },
    { flags: "--correlation <id>", help: "Only of this correlation." },
    { flags: "--of <agent>", help: "Only what this agent has part in (--agent says as whom you ask)." },
    { flags: "--payloads", help: "With inputs, outputs, questions, answers and checkpoints, not only their digests." },
  ],
  examples: [
    { line: "log --since 1h > last-hour.jsonl", help: "what happened in the last hour" },
    { line: "log --correlation nightly-7 --payloads", help: "everything of one correlation" },
  ],
  connects: true,
  async run(context) {
    const { terminal } = context;
    let done = 0;
    const work = writeLog(context, (share) => {
      done = share;
    });
    const lines = await terminal.busy("reading the log", work, () => done);
    terminal.note(`${lines} ${lines === 1 ? "event" : "events"}.`);
    return "ok";
  },
};

async function writeLog(context: Context, tell: (share: number) => void): Promise<number> {
  const { terminal, options, connect, signal } = context;
  const client = await connect("operator");
  const now = Date.now();
  const since = options.duration("since");
  const until = options.duration("until");
  const correlation_id = options.text("correlation");
  const agent = options.text("of");
  const filter = {
    ...(correlation_id === undefined ? {} : { correlation_id }),
    ...(agent === undefined ? {} : { agent }),
    ...(options.flag("payloads") ? { payloads: "inline" as const } : {}),
  };
  const span = {
    ...(since === undefined ? {} : { from: Math.max(0, now - since) }),
    until: until === undefined ? null : Math.max(0, now - until),
  };
  let lines = 0;
  for await (const { text, share } of exportLog(client, filter, { ...span, now }, signal)) {
    await terminal.rawWithRoom(text);
    lines += text.split("\n").length - 1;
    tell(share);
  }
  return lines;
}
