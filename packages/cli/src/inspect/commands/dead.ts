/** `handfast dead`: dead letters, and what to do with them. */

import type { HandoffView, Operations } from "@handfast/protocol/wire";
import type { Command, Context } from "../../command.ts";
import { yesOption } from "../../confirm.ts";
import { CliError } from "../../errors.ts";
import type { ExitName } from "../../exit-codes.ts";
import { readInput } from "../../send/input.ts";
import { filterOptions, readFilter, statusOption } from "../dead/dead-filter.ts";
import { deadLines, deadListLines } from "../dead/dead-lines.ts";
import { redriveMany } from "../dead/redrive-many.ts";
import { fullId } from "../find-handoff.ts";
import { lookOf } from "../look.ts";
import { counted } from "../names.ts";
import type { Reader } from "../relay-reads.ts";

const list: Command = {
  name: "list",
  summary: "Lists dead letters, oldest first.",
  options: [
    statusOption,
    ...filterOptions,
    { flags: "-n, --limit <count>", help: "At most so many.", default: "100" },
    { flags: "--full", help: "Whole reasons, and exact times." },
  ],
  examples: [
    { line: "dead list", help: "those that are open" },
    { line: "dead list --code 408 --younger 1d", help: "deadlines missed since yesterday" },
  ],
  connects: true,
  async run({ terminal, options, connect }) {
    const most = options.number("limit", 1, 1_000_000) ?? 100;
    const { letters, more } = await deadLetters(await connect("operator"), readFilter(options), most);
    if (terminal.json) {
      terminal.document({ dead_letters: letters, cursor: more });
      return "ok";
    }
    for (const line of deadListLines(letters, lookOf(terminal, options.flag("full")))) terminal.print(line);
    const [first] = letters;
    terminal.note(
      first === undefined
        ? "No dead letters."
        : `${counted(letters.length, "dead letter")}${more === null ? "" : ", and more: raise --limit"}.`,
    );
    if (first !== undefined) terminal.next(`handfast dead show ${first.id}`);
    return "ok";
  },
};

async function deadLetters(relay: Reader, filter: ReturnType<typeof readFilter>, most: number) {
  const letters: HandoffView[] = [];
  let more: string | null = null;
  do {
    const limit = Math.min(500, most - letters.length);
    const query: Operations["dead_letters"]["query"] = { ...filter, limit, ...(more === null ? {} : { cursor: more }) };
    const page: Operations["dead_letters"]["reply"] = await relay.call("dead_letters", { query });
    letters.push(...page.dead_letters);
    more = page.cursor;
  } while (more !== null && letters.length < most);
  return { letters, more };
}

const show: Command = {
  name: "show",
  summary: "Shows a dead letter: input, every attempt, reason, history.",
  arguments: [{ name: "id", help: "Of the handoff; its beginning or end is enough." }],
  options: [{ flags: "--full", help: "The whole input, and exact times." }],
  examples: [{ line: "dead show 0000abcd --full", help: "with the whole input" }],
  connects: true,
  async run({ terminal, arguments: [given = ""], options, connect }) {
    const client = await connect("operator");
    const letter = await client.call("dead_letter", { params: { id: await fullId(client, given) } });
    if (terminal.json) {
      terminal.document(letter);
      return "ok";
    }
    for (const line of deadLines(letter, lookOf(terminal, options.flag("full")))) terminal.print(line);
    const { dead_letter: status, id } = letter.handoff;
    terminal.next(status?.status === "open" ? `handfast dead redrive ${id}` : `handfast show ${status?.id ?? id}`);
    return "ok";
  },
};

const redrive: Command = {
  name: "redrive",
  summary: "Gives a dead letter another life, as it is or edited; or all that fit a filter.",
  description:
    "With --all the set is fixed and shown first; on a terminal you are asked, a script says --yes.\n" +
    "Redriving twice changes nothing: the second time names the first one's id; edits are then not applied (exit code 1).",
  arguments: [{ name: "id", help: "Of the dead letter; or --all.", optional: true }],
  options: [
    { flags: "--input <value>", help: "Another input: JSON, or @file." },
    { flags: "--text", help: "The input is text, not JSON." },
    { flags: "--new-to <agent>", help: "To another agent." },
    { flags: "--new-capability <name>", help: "For another capability." },
    { flags: "--timeout <duration>", help: "Another deadline." },
    { flags: "--queue-if-absent", help: "Also if nobody offers it now." },
    { flags: "--all", help: "All open ones that fit the filter." },
    { flags: "--dry-run", help: "With --all: only count them." },
    yesOption,
    ...filterOptions,
  ],
  examples: [
    { line: "dead redrive 0000abcd", help: "as it is" },
    { line: "dead redrive 0000abcd --input @mended.json", help: "edited" },
    { line: "dead redrive --all --code 503 --dry-run", help: "how many would it be?" },
    { line: "dead redrive --all --code 503 --yes", help: "and do it" },
  ],
  connects: true,
  async run(context) {
    const {
      arguments: [given],
      options,
      connect,
    } = context;
    if (options.flag("all") !== (given === undefined)) {
      throw new CliError(
        "usage",
        given === undefined ? "No dead letter was named." : "Both an id and --all were given.",
        "Give an id, or --all with a filter.",
      );
    }
    const client = await connect("operator");
    return given === undefined
      ? redriveMany(context, client)
      : redriveOne(context, client, await fullId(client, given));
  },
};

async function redriveOne(context: Context, relay: Reader, id: string): Promise<ExitName> {
  const { terminal } = context;
  const body = await edits(context);
  const reply = await relay.call("redrive", { params: { id }, body });
  const isLost = reply.repeated && Object.keys(body).length > 0;
  if (terminal.json) terminal.document(reply);
  else terminal.print(`${reply.repeated ? "was redriven before" : "redriven"} as ${reply.redriven_as}`);
  if (isLost) {
    const what = `${terminal.accent("red", "error:")} Your edits were NOT applied: it had been redriven before, as it then was.`;
    const end = `If ${reply.redriven_as} ends as a dead letter too, redrive that one with the edits.`;
    terminal.note(`${what}\n${end}`);
  }
  terminal.next(`handfast watch ${reply.redriven_as}`);
  return isLost ? "ended" : "ok";
}

async function edits({ options, cwd }: Context): Promise<Exclude<Operations["redrive"]["body"], { signed: unknown }>> {
  const given = options.text("input");
  const text = options.flag("text");
  const words = { word: given, text, files: false, cwd, stdin: process.stdin };
  const value = given === undefined ? undefined : await readInput(words);
  const to = options.text("new-to");
  const capability = options.text("new-capability");
  const deadline_ms = options.duration("timeout");
  return {
    ...(value === undefined ? {} : typeof value === "string" && text ? { text: value } : { input: value }),
    ...(to === undefined ? {} : { to }),
    ...(capability === undefined ? {} : { capability }),
    ...(deadline_ms === undefined ? {} : { limits: { deadline_ms } }),
    ...(options.flag("queue-if-absent") ? { queue_if_absent: true } : {}),
  };
}

const discard: Command = {
  name: "discard",
  summary: "Lets dead letters go: nothing more happens to them.",
  arguments: [{ name: "id", help: "Of the dead letters.", many: true }],
  examples: [{ line: "dead discard 0000abcd", help: "it stays readable until its time is over" }],
  connects: true,
  async run({ terminal, arguments: given, connect }) {
    const client = await connect("operator");
    for (const each of given) {
      const view = await client.call("discard", { params: { id: await fullId(client, each) }, body: {} });
      if (terminal.json) terminal.jsonLine(view);
      else terminal.print(`discarded ${view.id}`);
    }
    terminal.next("handfast dead list");
    return "ok";
  },
};

export const deadCommand: Command = {
  name: "dead",
  summary: "Lists, shows, redrives and discards dead letters.",
  description: "A dead letter is a handoff that failed, was rejected or expired, kept with everything that led to it.",
  examples: [{ line: "dead", help: "those that are open" }],
  commands: [list, show, redrive, discard],
  standard: "list",
};
