/** `handfast contracts`: what was agreed on, how it stands, and ending it. */

import type { Contract } from "@handfast/client";
import { changedWords } from "@handfast/protocol/client";
import type { Command, Context } from "../command.ts";
import { exactly, span } from "../moments.ts";
import { table, titled } from "../table.ts";
import { cleanLine } from "../text.ts";
import { overWords, priceWords } from "./contract-words.ts";
import { readContract } from "./read-contract.ts";

const states = ["in_force", "stale", "breached", "expired", "ended"] as const;
const sides = ["asker", "provider"] as const;
const idArgument = { name: "id", help: "All 64 characters of it." };

export const contractsCommand: Command = {
  name: "contracts",
  summary: "Shows the contracts that an agent is a party of, and ends them.",
  examples: [{ line: "contracts", help: "All that this agent agreed to, on either side" }],
  standard: "list",
  commands: [
    {
      name: "list",
      summary: "Lists contracts.",
      options: [
        { flags: "--state <state>", help: "Only those that stand so.", choices: states },
        { flags: "--side <side>", help: "Only those in which the agent is on this side.", choices: sides },
      ],
      connects: true,
      examples: [{ line: "contracts list --state in_force --side asker", help: "Under which work can be handed over" }],
      run: list,
    },
    {
      name: "show",
      summary: "Shows one contract: its terms, both sides' word for it, and how it was kept.",
      arguments: [idArgument],
      connects: true,
      examples: [{ line: "contracts show ID", help: "How it stands" }],
      run: show,
    },
    {
      name: "end",
      summary: "Ends a contract. What is open under it goes on to its end.",
      arguments: [idArgument],
      options: [{ flags: "--reason <text>", help: "Why, for the other side." }],
      connects: true,
      examples: [{ line: 'contracts end ID --reason "no longer needed"', help: "No more work is taken under it" }],
      run: end,
    },
  ],
};

async function list({ terminal, options, connect, signal }: Context): Promise<undefined> {
  const state = states.find((each) => each === options.text("state"));
  const as = sides.find((each) => each === options.text("side"));
  const client = await connect("agent");
  const filter = { ...(state === undefined ? {} : { state }), ...(as === undefined ? {} : { as }) };
  const contracts = await terminal.busy("reading", Array.fromAsync(client.contracts({ ...filter, signal })));
  const [first] = contracts;
  if (terminal.json) terminal.document({ contracts: contracts.map(({ view }) => view) });
  else if (first === undefined) {
    terminal.note(`${client.agent} has no such contract.`);
    terminal.next("handfast negotiate CAPABILITY --accept");
  } else {
    const look = { style: terminal.style.bind(terminal), edge: terminal.edge };
    const titles = ["contract", "is", "asker", "provider", "capability", "valid until", "price"];
    terminal.lines(titled(titles, contracts.map(row), look));
    terminal.next(`handfast contracts show ${first.id}`);
  }
}

function row({ id, terms, validUntil, view }: Contract): readonly string[] {
  const { asker, provider, capability } = terms;
  const cells = [id, stateWords(view.state), asker, provider, capability, exactly(validUntil), priceWords(terms)];
  return cells.map(cleanLine);
}

async function show({ terminal, arguments: [id = ""], connect }: Context): Promise<undefined> {
  const contract = await readContract(await connect("agent"), id);
  if (terminal.json) terminal.document(contract.view);
  else terminal.lines(table(describe(contract)));
}

function describe({ id, terms, validUntil, view }: Contract): readonly (readonly string[])[] {
  const { fulfilled, breaches, uncounted } = view.fulfilment;
  const { ended, changed } = view;
  const { limits } = terms;
  const rows = [
    ["contract", id],
    ["state", stateWords(view.state)],
    ["asker", `${terms.asker} · ${view.asker_evidence.proof === null ? "the relay's word" : "signed"}`],
    ["provider", `${terms.provider} · ${view.provider_evidence.proof === null ? "the relay's word" : "signed"}`],
    ["capability", terms.capability],
    ["price", priceWords(terms)],
    ["deadline", span(limits.deadline_ms)],
    ["attempts", limits.retry === "until_ack" ? "1 once acknowledged" : String(limits.max_attempts)],
    ["attempt", span(limits.attempt_ms)],
    ["queue", span(limits.queue_ms)],
    ["ack", span(limits.ack_ms)],
    ["lease", span(limits.lease_ms)],
    ["agreed", exactly(view.agreed_at)],
    ["valid until", exactly(validUntil)],
    ["kept", `${fulfilled} fulfilled, ${breaches} breached, ${uncounted} not counted`],
    ...(ended === null ? [] : [["ended", `${exactly(ended.at)} by ${ended.by}: ${ended.reason ?? "no reason given"}`]]),
    ...(changed.length === 0 ? [] : [["changed", changedWords(changed)]]),
  ];
  return rows.map((cells) => cells.map(cleanLine));
}

async function end({ terminal, options, arguments: [id = ""], connect }: Context): Promise<undefined> {
  const contract = await readContract(await connect("agent", { signs: true }), id);
  const before = contract.view;
  const { view } = await contract.end(options.text("reason"));
  if (terminal.json) terminal.document(view);
  else terminal.note(overWords(before) ?? `ended ${id}; what is open under it goes on`);
}

function stateWords(state: Contract["view"]["state"]): string {
  return state.replaceAll("_", " ");
}
