/** `handfast agents`: who is there and what they offer. */

import type { Client } from "@handfast/client";
import type { AgentReliability, AgentView } from "@handfast/protocol/wire";
import type { Command, Context } from "../command.ts";
import { confirm, yesOption } from "../confirm.ts";
import { reliabilityWords } from "../find/words.ts";
import { ago, exactly, span } from "../moments.ts";
import { table, titled } from "../table.ts";
import { cleanLine } from "../text.ts";
import { type Presence, presenceOf } from "./presence.ts";

const nameArgument = { name: "agent", help: "Its name." };

export const agentsCommand: Command = {
  name: "agents",
  summary: "Shows who is there and what they offer.",
  examples: [
    { line: "agents", help: "Everybody" },
    { line: "agents list --capability web_research", help: "Who could do it" },
  ],
  standard: "list",
  commands: [
    {
      name: "list",
      summary: "Lists agents with what they offer.",
      options: [{ flags: "--capability <name>", help: "Only those that offer it." }],
      connects: true,
      examples: [{ line: "agents list --json", help: "With their manifests" }],
      run: list,
    },
    {
      name: "show",
      summary: "Shows one agent: capabilities, keys, workers.",
      arguments: [nameArgument],
      connects: true,
      examples: [{ line: "agents show upper-1", help: "When it was last seen, and by which worker" }],
      run: show,
    },
    {
      name: "forget",
      summary: "Forgets an agent, its keys and its tokens. Its handoffs stay.",
      arguments: [nameArgument],
      options: [yesOption],
      connects: true,
      examples: [{ line: "agents forget upper-1 --yes", help: "The name is free again" }],
      run: forget,
    },
  ],
};

async function list(context: Context): Promise<undefined> {
  const { terminal, options } = context;
  const capability = options.text("capability");
  const client = await context.connect("operator");
  const agents = await terminal.busy("reading", allAgents(client, capability));
  if (terminal.json) terminal.document({ agents });
  else if (agents.length === 0) {
    const offered = capability === undefined ? "" : ` that offers ${capability}`;
    const make = `handfast serve ${capability ?? "NAME"} -- COMMAND`;
    terminal.note(terminal.spelled(`There is no agent${offered}. Make one: ${make}`));
  } else {
    const now = Date.now();
    const rows = agents.map((agent) => [
      agent.name,
      agent.last_seen_at === null ? "never" : ago(agent.last_seen_at, now),
      workersInWords(agent, now),
      agent.identity === null ? "token" : agent.identity.slice(0, 12),
      agent.capabilities.map(({ name }) => name).join(", "),
    ]);
    const look = { style: terminal.style.bind(terminal), edge: terminal.edge };
    terminal.lines(titled(["agent", "seen", "workers", "key", "offers"], rows, look));
    terminal.next(`handfast agents show ${agents[0]?.name ?? "AGENT"}`);
  }
}

async function allAgents(client: Client, capability: string | undefined): Promise<readonly AgentView[]> {
  const found: AgentView[] = [];
  let after: string | null = null;
  do {
    const query = {
      limit: 500,
      ...(capability === undefined ? {} : { capability }),
      ...(after === null ? {} : { after }),
    };
    const page: { readonly agents: AgentView[]; readonly after: string | null } = await client.call("agents", {
      query,
    });
    found.push(...page.agents);
    after = page.after;
  } while (after !== null);
  return found;
}

async function show(context: Context): Promise<undefined> {
  const { terminal } = context;
  const [name = ""] = context.arguments;
  const client = await context.connect("operator");
  const agent = await client.call("agent", { params: { name } });
  if (terminal.json) terminal.document(agent);
  else terminal.lines(describe(agent, await client.call("reliability", { params: { name } }), Date.now()));
}

function describe(agent: AgentView, reliability: AgentReliability, now: number): readonly string[] {
  const rows: string[][] = [
    ["agent", agent.name],
    ["identity", agent.identity ?? "none: it comes with a token"],
    ...(agent.description === null ? [] : [["description", cleanLine(agent.description)]]),
    ["registered", exactly(agent.registered_at)],
    ["last seen", agent.last_seen_at === null ? "never" : ago(agent.last_seen_at, now)],
    ["state", livenessWords(agent)],
    ...(agent.manifest === null ? [] : [["manifest", manifestWords(agent.manifest)]]),
    ...(agent.discovery_endpoint === null ? [] : [["look up at", cleanLine(agent.discovery_endpoint)]]),
    ...agent.capabilities.flatMap((capability) => capabilityRows(capability, reliability)),
    ...agent.workers.map((worker) => [
      "worker",
      `${worker.worker} · ${presenceWords[presenceOf(worker, now)]} · heard of ${ago(worker.last_seen_at, now)}`,
    ]),
    ...agent.keys.map((key) => ["key", `${key.thumbprint} · ${keyState(key, now)}`]),
  ];
  return table(rows);
}

function livenessWords({ liveness: { state, lease_until } }: AgentView): string {
  if (state === "lapsed")
    return `lapsed ${exactly(lease_until)}: not found and not routed to, until it is heard of again`;
  return `${state} · registered until ${exactly(lease_until)} without a further sign of life`;
}

function manifestWords({ digest, version, signed }: NonNullable<AgentView["manifest"]>): string {
  return [digest, ...(version === null ? [] : [`version ${version}`]), signed ? "signed" : "not signed"].join(" · ");
}

const presenceWords: Readonly<Record<Presence, string>> = {
  asking: "asking for work",
  recent: "busy or just left",
  gone: "gone",
};

/** "2 asking", "1 asking, 1 busy or just left", "none": those that are gone do not count. */
function workersInWords({ workers }: AgentView, now: number): string {
  const counts = (["asking", "recent"] as const).flatMap((presence) => {
    const count = workers.filter((worker) => presenceOf(worker, now) === presence).length;
    return count === 0 ? [] : [`${count} ${presence === "asking" ? "asking" : "busy or just left"}`];
  });
  return counts.length === 0 ? "none" : counts.join(", ");
}

function capabilityRows(
  { name, description, timeout_seconds, input_schema, output_schema }: AgentView["capabilities"][number],
  { capabilities }: AgentReliability,
): string[][] {
  const counted = capabilities.find(({ capability }) => capability === name);
  return [
    ["offers", cleanLine(`${name} ${description ?? ""}`)],
    ...(counted === undefined ? [] : [["  keeps", reliabilityWords({ ...counted, ...counted.measured })]]),
    ...(timeout_seconds === undefined ? [] : [["  timeout", span(timeout_seconds * 1_000)]]),
    ...(input_schema === undefined ? [] : [["  input", cleanLine(JSON.stringify(input_schema))]]),
    ...(output_schema === undefined ? [] : [["  output", cleanLine(JSON.stringify(output_schema))]]),
  ];
}

function keyState({ revoked_at, valid_until }: AgentView["keys"][number], now: number): string {
  if (revoked_at !== null) return `revoked ${exactly(revoked_at)}`;
  if (valid_until === null) return "valid";
  return valid_until < now ? `retired ${exactly(valid_until)}` : `replaced, valid until ${exactly(valid_until)}`;
}

async function forget(context: Context): Promise<undefined> {
  const { terminal } = context;
  const [name = ""] = context.arguments;
  const client = await context.connect("operator");
  await confirm(context, `Forget ${name}, its keys and its tokens?`);
  await client.call("forget_agent", { params: { name } });
  if (terminal.json) terminal.document({ agent: name, forgotten: true });
  else terminal.note(`forgot ${name}; its handoffs stay`);
}
