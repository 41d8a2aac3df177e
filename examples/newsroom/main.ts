/** `npm run newsroom`: five agents, three frameworks, one article, and one of them is killed on the way. */

import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Client } from "@handfast/client";
import type { StoryEvent } from "../../packages/cli/src/inspect/story-event.ts";
import { Terminal } from "../../packages/cli/src/terminal.ts";
import { endWhenTold } from "../../tests/support/end-at-once.ts";
import { castOf } from "./cast.ts";
import { Stage } from "./stage.ts";
import { eventsOf, Timeline } from "./timeline.ts";
import { type Tree, treeOf } from "./tree.ts";

const job = { topic: "leap seconds", readers: "People who have never heard of UTC." };
const usage = `npm run newsroom [-- options]

  --without-crewai  a writer in plain Python in place of CrewAI, which is 1 GB to install
  --plain           no colours
  --help`;

endWhenTold();
const options = optionsIn(process.argv.slice(2));
const terminal = new Terminal({
  ...{ out: process.stdout, err: process.stderr, env: process.env },
  ...{ json: false, plain: options.plain, debug: false },
});

if (options.help) terminal.print(usage);
else process.exitCode = await show();

function optionsIn(line: readonly string[]) {
  const flag = { type: "boolean", default: false } as const;
  try {
    return parseArgs({ args: [...line], options: { "without-crewai": flag, plain: flag, help: flag } }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${usage}\n`);
    process.exit(64);
  }
}

/** 0: everything happened that should. */
async function show(): Promise<number> {
  let stage: Stage | null = null;
  const wrong: string[] = [];
  try {
    const cast = await castOf({ without_crewai: options["without-crewai"] }, (line) => terminal.note(line));
    stage = await terminal.busy(`starting a relay and ${cast.length} processes`, Stage.open(cast));
    wrong.push(...(await play(stage)));
  } catch (error) {
    wrong.push(error instanceof Error ? error.message : String(error));
  }
  wrong.push(...((await stage?.close()) ?? []));
  for (const each of wrong) terminal.print(terminal.style("red", `✗ ${each}`));
  return wrong.length === 0 ? 0 : 1;
}

/** What should have been so and was not. */
async function play(stage: Stage): Promise<readonly string[]> {
  const operator = await stage.operator();
  const frameworks = await frameworksOf(operator);
  const agents = Array.from(frameworks, ([agent, framework]) => `${agent} (${framework})`);
  terminal.print(`relay ${stage.url} · ${agents.join(" · ")}\n`);

  // The writer's model thinks for as long as this file is there, so that there is a middle to be killed in.
  const held = join(stage.folder, "held");
  await writeFile(held, "");
  const you = await stage.you();
  const handle = await you.send<{ file: string }>("article", job, { timeout: "3m", evidence: "signed" });
  const correlation = handle.correlation ?? handle.id;
  const timeline = new Timeline(terminal, operator, frameworks);
  const events: StoryEvent[] = [];
  let killed: StoryEvent | undefined;
  for await (const event of eventsOf(operator, correlation)) {
    events.push(event);
    await timeline.tell(event);
    if (event.type !== "checkpointed" || killed !== undefined) continue;
    killed = events.findLast(({ type, handoff }) => type === "acknowledged" && handoff === event.handoff);
    await stage.kill(killed?.worker ?? "");
    timeline.killed(killed?.worker ?? "", event.handoff);
    await rm(held);
  }
  const { file } = await handle.result();
  const article = await readFile(join(stage.folder, file), "utf8");
  terminal.print(`\n${terminal.style("bold", file)}\n`);
  for (const line of wrapped(article)) terminal.print(`    ${line}`.trimEnd());

  const tree = await treeOf(operator, correlation, frameworks);
  terminal.print(`\n${terminal.style("bold", "correlation")} ${correlation}`);
  terminal.lines(tree.lines);
  const receipts = tree.proven.flatMap((each) => each.receipts);
  terminal.print(`${tree.proven.length} handoffs · ${receipts.length} documents, every signature checked here`);
  return faultsOf(tree, events, killed, article);
}

function faultsOf(
  { proven }: Tree,
  events: readonly StoryEvent[],
  killed: StoryEvent | undefined,
  article: string,
): readonly string[] {
  const of_killed = events.filter(({ handoff }) => handoff === killed?.handoff);
  const finisher = of_killed.findLast(({ type }) => type === "completed");
  const draft = proven.find(({ handoff }) => handoff.id === killed?.handoff)?.handoff.outcome?.output;
  const authors = (draft as { readonly by?: readonly string[] } | undefined)?.by;
  const capabilities = proven.map(({ handoff }) => handoff.capability).join(" ");
  const facts: readonly (readonly [string, boolean])[] = [
    ["the work went its way", capabilities === "article research draft review draft review publish"],
    ["every handoff is completed", proven.every(({ handoff }) => handoff.state === "completed")],
    ["the killed one finished nothing", finisher !== undefined && finisher.worker !== killed?.worker],
    ["its outline was not done again", authors?.[0] === killed?.worker && authors?.[1] === finisher?.worker],
    ["a question was answered", events.some(({ type }) => type === "answered")],
    ["the article is the second draft", article.includes("a leap second.")],
    ["all is signed", proven.every(({ receipts }) => receipts.every(({ evidence }) => evidence === "signed"))],
  ];
  return facts.flatMap(([what, holds]) => (holds ? [] : [`this should be so and is not: ${what}`]));
}

/** By the tags that agents give their capabilities. */
async function frameworksOf(operator: Client): Promise<ReadonlyMap<string, string>> {
  const { agents } = await operator.call("agents", { query: { limit: 100 } });
  const tagged = agents.flatMap(({ name, capabilities }) => {
    const tag = capabilities[0]?.tags?.[0];
    return tag === undefined ? [] : [[name, tag] as const];
  });
  return new Map(tagged);
}

function wrapped(text: string): readonly string[] {
  return text
    .trim()
    .split("\n")
    .flatMap((line) => line.match(/.{1,92}(?:\s|$)/g) ?? [""]);
}
