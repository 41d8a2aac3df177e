/** `handfast list`: handoffs, newest first. */

import type { HandoffView, Operations } from "@handfast/protocol/wire";
import type { Command } from "../../command.ts";
import { CliError } from "../../errors.ts";
import type { Options } from "../../options.ts";
import { handoffListLines } from "../list-lines.ts";
import { lookOf } from "../look.ts";
import { counted } from "../names.ts";
import type { Reader } from "../relay-reads.ts";

type Query = Operations["list"]["query"];

const states = [
  "queued",
  "delivered",
  "working",
  "waiting",
  "completed",
  "failed",
  "rejected",
  "canceled",
  "expired",
] as const;
const page_size = 500;

export const listCommand: Command = {
  name: "list",
  summary: "Lists handoffs, newest first.",
  description: "An agent sees those that it has part in, an operator all.",
  options: [
    { flags: "--state <state>", help: "Only those in this state.", choices: states },
    { flags: "--from <agent>", help: "Only those of this sender." },
    { flags: "--to <agent>", help: "Only those addressed to this agent." },
    { flags: "--capability <name>", help: "Only those for this capability." },
    { flags: "--label <name=value>", help: "Only those with this label." },
    { flags: "--correlation <id>", help: "Only those of this correlation." },
    { flags: "--conversation <id>", help: "Only those of this conversation." },
    { flags: "-n, --limit <count>", help: "At most so many.", default: "20" },
    { flags: "--full", help: "Whole ids, and exact times." },
  ],
  examples: [
    { line: "list", help: "the newest" },
    { line: "list --state waiting", help: "those that wait for an answer" },
    { line: "list --label team=red --json", help: "by a label, for a script" },
  ],
  connects: true,
  async run({ terminal, options, connect }) {
    const most = options.number("limit", 1, 100_000) ?? 20;
    const query = readQuery(options);
    const { handoffs, cursor } = await newest(await connect("operator"), query, most);
    if (terminal.json) {
      terminal.document({ handoffs, cursor });
      return "ok";
    }
    const [first] = handoffs;
    terminal.lines(handoffListLines(handoffs, lookOf(terminal, options.flag("full"))));
    if (first === undefined) terminal.note("No handoffs.");
    else if (cursor !== null) terminal.note(`${counted(handoffs.length, "handoff")}, and more: raise --limit.`);
    if (first !== undefined) terminal.next(`handfast show ${first.id}`);
    return "ok";
  },
};

function readQuery(options: Options): Query {
  const state = states.find((each) => each === options.text("state"));
  const from = options.text("from");
  const to = options.text("to");
  const capability = options.text("capability");
  const correlation_id = options.text("correlation");
  const conversation_id = options.text("conversation");
  const label = options.text("label");
  return {
    ...(state === undefined ? {} : { state }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(capability === undefined ? {} : { capability }),
    ...(correlation_id === undefined ? {} : { correlation_id }),
    ...(conversation_id === undefined ? {} : { conversation_id }),
    ...(label === undefined ? {} : { label: labelOf(label) }),
  };
}

/** As `send --label` takes it; the wire has a colon in between. */
function labelOf(word: string): string {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
  if (name !== undefined && value !== undefined) return `${name}:${value}`;
  throw new CliError("usage", `--label is ${JSON.stringify(word)}.`, "Write --label name=value.");
}

async function newest(relay: Reader, filter: Query, most: number) {
  const handoffs: HandoffView[] = [];
  let cursor: string | null = null;
  do {
    const limit = Math.min(page_size, most - handoffs.length);
    const query: Query = { ...filter, order: "newest", limit, ...(cursor === null ? {} : { cursor }) };
    const page: Operations["list"]["reply"] = await relay.call("list", { query });
    handoffs.push(...page.handoffs);
    cursor = page.cursor;
  } while (cursor !== null && handoffs.length < most);
  return { handoffs, cursor };
}
