/** `handfast find`: who meets a need, and why. */

import type { Found, Hit } from "@handfast/client";
import type { Command, Context } from "../command.ts";
import type { ExitName } from "../exit-codes.ts";
import { table } from "../table.ts";
import { cleanLine } from "../text.ts";
import { needOptions, readNeed } from "./need.ts";
import { costWords, noteMisses, reliabilityWords, schemaLines } from "./words.ts";

const hits_most = 100;

export const findCommand: Command = {
  name: "find",
  summary: "Finds agents by what is needed, and says why each was found.",
  description:
    "The best first, with why below each. Where nobody meets the need, those that come nearest and what each lacks " +
    "go to stderr, and the command ends with 66.",
  arguments: [{ name: "words", help: "What it is about, in plain words.", optional: true, many: true }],
  options: [
    { flags: "--capability <name>", help: "By its name." },
    ...needOptions,
    { flags: "-n, --limit <count>", help: "So many at most.", default: "the relay's" },
  ],
  connects: true,
  examples: [
    { line: "find translate to french", help: "In plain words" },
    { line: "find --capability web_research --version-range ^1.2 --live", help: "By name, version and liveness" },
    {
      line: `find --input '{"query": "fsync"}' --output-schema '{"summary": "string"}'`,
      help: "By what goes in and out",
    },
    { line: "find research --min-reliability 0.9 --json", help: "For a script" },
  ],
  run,
};

async function run(context: Context): Promise<ExitName> {
  const { terminal, options, arguments: words, signal } = context;
  const capability = options.text("capability");
  const limit = options.number("limit", 1, hits_most);
  const need = {
    ...readNeed(context),
    ...(words.length === 0 ? {} : { words: words.join(" ") }),
    ...(capability === undefined ? {} : { capability }),
  };
  const client = await context.connect("agent");
  const found = await terminal.busy(
    "looking",
    client.find(need, { signal, ...(limit === undefined ? {} : { limit }) }),
  );
  if (terminal.json) terminal.document(found);
  else show(context, found);
  return found.hits.length === 0 ? "missing" : "ok";
}

function show({ terminal }: Context, { hits, found, near }: Found): void {
  const [best] = hits;
  if (best === undefined) {
    terminal.note("Nobody meets this need.");
    noteMisses(terminal, near);
    terminal.next(near.length === 0 ? "handfast agents" : "handfast find, with less asked for");
    return;
  }
  const style = terminal.style.bind(terminal);
  const titles = ["agent", "capability", "is", "reliability", "price"].map((title) => style("dim", title));
  const [head = "", ...rows] = table([titles, ...hits.map(row)], terminal.edge);
  terminal.print(head);
  for (const [index, hit] of hits.entries()) {
    terminal.print(rows[index]);
    for (const line of [...hit.why, ...schemaLines(hit.schemas)]) terminal.print(style("dim", `  ${cleanLine(line)}`));
  }
  if (found > hits.length) terminal.note(`${hits.length} of ${found}; --limit shows more.`);
  terminal.next(nextLine(best));
}

function row(hit: Hit): readonly string[] {
  const { agent_id, capability, liveness, reliability } = hit;
  const { name, version } = capability;
  const offered = version === undefined ? name : `${name} ${version}`;
  return [agent_id, offered, liveness.state, reliabilityWords(reliability), costWords(hit)].map(cleanLine);
}

/** Nothing can be handed here to an agent that is registered elsewhere. */
function nextLine({ agent_id, capability: { name }, foreign }: Hit): string {
  return foreign === null
    ? `handfast negotiate ${name}, or handfast send ${name} INPUT`
    : `handfast agents show ${agent_id}`;
}
