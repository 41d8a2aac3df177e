/** `handfast negotiate`: asks for offers on terms, and takes the best of them if told to. */

import type { Client, Contract, Negotiation, Offer, TermsNeeded } from "@handfast/client";
import { isName, protocolLimits, wireLimits } from "@handfast/protocol/client";
import type { Command, Context } from "../command.ts";
import { CliError } from "../errors.ts";
import type { ExitName } from "../exit-codes.ts";
import { exactly, span } from "../moments.ts";
import type { Options } from "../options.ts";
import { titled } from "../table.ts";
import { cleanLine } from "../text.ts";
import { acceptingLine, quoted } from "./accepting.ts";
import { termsWords } from "./contract-words.ts";
import { needOptions, readNeed } from "./need.ts";
import { costWords, declinedWords, noteMisses, reliabilityWords, schemaLines } from "./words.ts";

export const negotiateCommand: Command = {
  name: "negotiate",
  summary: "Asks those that meet a need for offers on your terms, and agrees to one with --accept.",
  description:
    "One word is the name of a capability, as `handfast find` shows it; several are what it is about, as there.\n" +
    "One round: offers come from manifests, and live from agents that want to be asked. The contract's id goes to stdout; " +
    "`handfast send --contract ID` hands work over under it.",
  arguments: [
    {
      name: "words",
      help: "A capability by its name, or what it is about in plain words.",
      optional: true,
      many: true,
    },
  ],
  options: [
    { flags: "--capability <name>", help: "By its name; all words are then what it is about." },
    ...needOptions,
    { flags: "--timeout <duration>", help: "The longest that a handoff under it may take.", default: "15m" },
    { flags: "--attempts <count>", help: "How many attempts a handoff may have.", default: "3" },
    { flags: "--deadline <duration>", help: "The same as --timeout." },
    { flags: "--max-attempts <count>", help: "The same as --attempts." },
    { flags: "--evidence <kind>", help: "signed: only agents that sign what they say.", choices: ["signed", "any"] },
    { flags: "--to <agent>", help: "Asks only this agent; may be given several times.", many: true },
    { flags: "--reply-by <duration>", help: "How long agents that are asked live may take.", default: "5s" },
    { flags: "--valid <duration>", help: "How long the contract is to hold, at most 30d.", default: "24h" },
    { flags: "--accept", help: "Agrees to the first offer, at any price unless --max-cost is given." },
  ],
  connects: true,
  examples: [
    { line: "negotiate web_research --timeout 2m --min-reliability 0.9", help: "The offers there are" },
    { line: "negotiate translate to french --max-cost 1000", help: "By what it is about" },
    { line: "negotiate web_research --timeout 2m --accept", help: "Agrees to the best, prints the contract's id" },
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
  const { options } = context;
  const { duration_ms, attempts: attempts_most } = protocolLimits;
  const timeout = either(options, "timeout", "deadline", (name) => options.duration(name, duration_ms));
  const attempts = either(options, "attempts", "max-attempts", (name) => options.number(name, 1, attempts_most));
  const evidence = options.text("evidence");
  const agents = options.list("to");
  const replyBy = options.duration("reply-by", wireLimits.reply_by_most_ms);
  const valid = options.duration("valid", duration_ms);
  const need = { ...readNeed(context), ...readTask(context) };
  const isTask = [need.words, need.capability, need.tags, need.input, need.inputSchema, need.outputSchema].some(
    (each) => each !== undefined,
  );
  if (!isTask && agents.length === 0) {
    const remedy = "Name a capability (handfast negotiate web_research), or say in words what it is about.";
    throw new CliError("usage", "For what?", remedy);
  }
  return {
    ...need,
    ...(timeout === undefined ? {} : { timeout }),
    ...(attempts === undefined ? {} : { attempts }),
    ...(evidence === "signed" || evidence === "any" ? { evidence } : {}),
    ...(agents.length === 0 ? {} : { agents }),
    ...(replyBy === undefined ? {} : { replyBy }),
    ...(valid === undefined ? {} : { valid }),
  };
}

/** A capability by its name, else what it is about. */
function readTask({ options, arguments: words }: Context): Pick<TermsNeeded, "words" | "capability"> {
  const capability = options.text("capability");
  const [first] = words;
  if (capability === undefined && words.length === 1 && first !== undefined && isName(first)) {
    return { capability: first };
  }
  return {
    ...(words.length === 0 ? {} : { words: words.join(" ") }),
    ...(capability === undefined ? {} : { capability }),
  };
}

/** Of an option and its other name. */
function either<T>(options: Options, name: string, other: string, read: (name: string) => T): T {
  if (options.text(name) !== undefined && options.text(other) !== undefined) {
    throw new CliError("usage", `--${name} and --${other} are the same.`, `Give --${name} alone.`);
  }
  return read(options.text(name) === undefined ? other : name);
}

function nobody({ terminal, options, arguments: words }: Context, negotiation: Negotiation): ExitName {
  if (terminal.json) {
    terminal.document(negotiation);
    return "missing";
  }
  terminal.note("Nobody offers this on these terms.");
  noteDeclined(terminal, negotiation);
  noteMisses(terminal, negotiation.near);
  const named = options.text("capability") ?? words.map(quoted).join(" ");
  terminal.next(named === "" ? "handfast find, to see who comes near" : `handfast find ${named}`);
  return "missing";
}

async function showOffers(context: Context, client: Client, negotiation: Negotiation, best: Offer): Promise<void> {
  const { terminal } = context;
  const { offers } = negotiation;
  const agents = [...new Set(offers.map(({ agent_id }) => agent_id))];
  const views = await Promise.all(agents.map((name) => client.call("agent", { params: { name } })));
  const states = new Map(views.map(({ name, liveness }) => [name, liveness.state]));
  const look = { style: terminal.style.bind(terminal), edge: terminal.edge };
  const titles = ["agent", "capability", "is", "price", "deadline", "attempts", "reliability", "take by"];
  terminal.lines(
    titled(
      titles,
      offers.map((offer) => row(offer, states.get(offer.agent_id) ?? "")),
      look,
    ),
  );
  noteDeclined(terminal, negotiation);
  const sealed = offers.find((offer) => offer.sealed);
  if (sealed !== undefined) {
    const what = `${client.agent} offers ${sealed.capability.name} too, or did within 30 days: a rival`;
    terminal.note(cleanLine(`sealed: ${what} sees no price of others, and cannot agree to one.`));
  }
  const open = offers.find((offer) => !offer.sealed);
  terminal.next(
    open === undefined ? `handfast send ${best.capability.name} INPUT` : acceptingLine(context.options, open),
  );
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
  terminal.note(cleanLine(`agreed with ${provider}: ${termsWords(terms)}, valid until ${exactly(validUntil)}`));
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
  for (const each of declined) terminal.note(cleanLine(declinedWords(each)));
}
