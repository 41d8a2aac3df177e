/** `handfast negotiate`: asks for offers on terms, and takes the best of them if told to. */

import type { Client, Contract, Negotiation, Offer, TermsNeeded } from "@handfast/client";
import { isName } from "@handfast/protocol/client";
import type { Command, Context } from "../command.ts";
import { CliError } from "../errors.ts";
import type { ExitName } from "../exit-codes.ts";
import { exactly, span } from "../moments.ts";
import { titled } from "../table.ts";
import { cleanLine } from "../text.ts";
import { acceptingLine } from "./accepting.ts";
import { termsWords } from "./contract-words.ts";
import { needOptions, readNeed } from "./need.ts";
import { costWords, noteMisses, reliabilityWords, schemaLines } from "./words.ts";

export const negotiateCommand: Command = {
  name: "negotiate",
  summary: "Asks those that offer a capability for offers on your terms, and agrees to one with --accept.",
  description:
    "One round: offers come from manifests, and live from agents that want to be asked. The contract's id goes to stdout;\n" +
    "`handfast send --contract ID` hands work over under it.",
  arguments: [{ name: "capability", help: "What is to be done." }],
  options: [
    ...needOptions,
    { flags: "--deadline <duration>", help: "The longest that a handoff under it may take.", default: "15m" },
    { flags: "--max-attempts <count>", help: "How many attempts a handoff may have.", default: "3" },
    { flags: "--evidence <kind>", help: "signed: only agents that sign what they say.", choices: ["signed", "any"] },
    { flags: "--to <agent>", help: "Asks only this agent; may be given several times.", many: true },
    { flags: "--reply-by <duration>", help: "How long agents that are asked live may take.", default: "5s" },
    { flags: "--valid <duration>", help: "How long the contract is to hold, at most 30d.", default: "24h" },
    { flags: "--accept", help: "Agrees to the first offer, at any price unless --max-cost is given." },
  ],
  connects: true,
  examples: [
    { line: "negotiate web_research --deadline 2m --min-reliability 0.9", help: "The offers there are" },
    { line: "negotiate web_research --deadline 2m --accept", help: "Agrees to the best, prints the contract's id" },
  ],
  run,
};

async function run(context: Context): Promise<ExitName> {
  const { terminal, options, signal } = context;
  const needed = readTerms(context);
  const client = await context.connect("agent", { signs: true });
  const negotiation = await terminal.busy("asking", client.negotiate(needed, { signal }));
  const [best] = negotiation.offers;
  if (best === undefined) return nobody(context, negotiation);
  if (!options.flag("accept")) {
    if (terminal.json) terminal.document(negotiation);
    else await showOffers(context, client, negotiation, best);
    return "ok";
  }
  const contract = await terminal.busy("agreeing", best.accept({ signal }));
  if (terminal.json) terminal.document(contract.view);
  else {
    noteUnknown(terminal, best);
    showContract(context, contract);
  }
  return "ok";
}

function readTerms(context: Context): TermsNeeded {
  const { options, arguments: words } = context;
  const [capability = ""] = words;
  const find = `Find it: handfast find ${capability}`;
  if (!isName(capability)) throw new CliError("usage", "negotiate takes the name of a capability.", find);
  const [timeout, attempts] = [options.duration("deadline"), options.number("max-attempts", 1, 100)];
  const evidence = options.text("evidence");
  const agents = options.list("to");
  const [replyBy, valid] = [options.duration("reply-by"), options.duration("valid")];
  return {
    ...readNeed(context),
    capability,
    ...(timeout === undefined ? {} : { timeout }),
    ...(attempts === undefined ? {} : { attempts }),
    ...(evidence === "signed" || evidence === "any" ? { evidence } : {}),
    ...(agents.length === 0 ? {} : { agents }),
    ...(replyBy === undefined ? {} : { replyBy }),
    ...(valid === undefined ? {} : { valid }),
  };
}

function nobody({ terminal }: Context, negotiation: Negotiation): ExitName {
  if (terminal.json) {
    terminal.document(negotiation);
    return "missing";
  }
  terminal.note("Nobody offers this on these terms.");
  noteDeclined(terminal, negotiation);
  noteMisses(terminal, negotiation.near);
  terminal.next("handfast find, to see who comes near");
  return "missing";
}

async function showOffers(context: Context, client: Client, negotiation: Negotiation, best: Offer): Promise<void> {
  const { terminal } = context;
  const { offers } = negotiation;
  const agents = [...new Set(offers.map(({ agent_id }) => agent_id))];
  const views = await Promise.all(agents.map((name) => client.call("agent", { params: { name } })));
  const states = new Map(views.map(({ name, liveness }) => [name, liveness.state]));
  const look = { style: terminal.style.bind(terminal), edge: terminal.edge };
  const titles = ["agent", "capability", "is", "price", "deadline", "attempts", "reliability", "until"];
  terminal.lines(
    titled(
      titles,
      offers.map((offer) => row(offer, states.get(offer.agent_id) ?? "")),
      look,
    ),
  );
  noteDeclined(terminal, negotiation);
  terminal.next(acceptingLine(context.options, context.arguments, best));
}

function row(offer: Offer, state: string): readonly string[] {
  const { agent_id, capability, terms, sealed, reliability, expires_at } = offer;
  const price = sealed ? "sealed" : costWords(offer);
  const [deadline, attempts] =
    terms === null ? ["sealed", "sealed"] : [span(terms.limits.deadline_ms), String(terms.limits.max_attempts)];
  const cells = [agent_id, capability.name, state, price, deadline, attempts, reliabilityWords(reliability)];
  return [...cells, exactly(expires_at)].map(cleanLine);
}

function showContract({ terminal }: Context, { id, terms, validUntil, view }: Contract): void {
  const { provider } = terms;
  terminal.note(cleanLine(`agreed with ${provider}: ${termsWords(terms)}, until ${exactly(validUntil)}`));
  if (view.provider_evidence.proof === null) {
    terminal.note(cleanLine(`${provider} cannot sign: that it agreed is the relay's word.`));
  }
  terminal.print(id);
  terminal.next(`handfast send --contract ${id} INPUT`);
}

/** Whoever agrees unseen is told what nobody could prove. */
function noteUnknown(terminal: Context["terminal"], { schemas }: Offer): void {
  for (const line of schemaLines(schemas).filter((each) => each.includes(" schema unknown"))) {
    terminal.note(cleanLine(line));
  }
}

function noteDeclined(terminal: Context["terminal"], { declined }: Negotiation): void {
  for (const { agent_id, reason, message } of declined) {
    terminal.note(cleanLine(`${agent_id} declined (${reason}): ${message}`));
  }
}
