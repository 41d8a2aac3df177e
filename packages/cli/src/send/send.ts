/** `handfast send`: gives work away, shows how it goes, prints what came out. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Client, Contract, Handle, SendOptions } from "@handfast/client";
import type { HandoffView } from "@handfast/protocol/wire";
import type { Command, Context } from "../command.ts";
import { CliError, exitOfHandoff, reasonOf, report } from "../errors.ts";
import type { ExitName } from "../exit-codes.ts";
import { readContract } from "../find/read-contract.ts";
import { follow } from "./follow.ts";
import { readFiles, readInput } from "./input.ts";
import { nobodyOffers } from "./nobody-offers.ts";
import { readSendOptions, sendOptionList } from "./send-options.ts";
import { Timeline } from "./timeline.ts";

export const sendCommand: Command = {
  name: "send",
  summary: "Gives work to whoever offers a capability, and waits for the outcome.",
  description:
    "The output goes to stdout, how it went to stderr. Ctrl-C stops waiting; the handoff goes on.\nINPUT is JSON, @file, - for stdin, or with --text plain text; without it stdin is read.",
  arguments: [
    { name: "capability", help: "What is to be done.", optional: true },
    { name: "input", help: "What to do it with.", optional: true },
  ],
  options: sendOptionList,
  connects: true,
  examples: [
    { line: "send upper --text hello", help: "Plain text, and wait for the answer" },
    { line: `send web_research '{"query": "fsync"}' --timeout 60s`, help: "JSON, with a deadline" },
    { line: "send web_research @query.json --no-wait", help: "From a file; prints the id and ends" },
    { line: "send resize --file photo.png '{\"width\": 200}'", help: "With a file" },
    { line: "send --to upper-1 --text hello", help: "To one agent by name" },
    { line: "send --contract ID --text hello", help: "Under a contract that `handfast negotiate` made" },
  ],
  run,
};

async function run(context: Context): Promise<ExitName> {
  const { terminal, options, cwd, signal } = context;
  const contract = options.text("contract");
  const { target: named, word } = readTarget(context, contract);
  const files = options.list("file");
  const text = options.flag("text");
  const sendOptions = readSendOptions(options, context.env, (path) => readFileSync(resolve(cwd, path), "utf8"));
  const input = await readInput({ word, text, files: files.length > 0, cwd, stdin: process.stdin });
  const artifacts = await readFiles(files, cwd);
  const client = await context.connect("agent", { signs: true });
  const under = contract === undefined ? null : await readContract(client, contract);
  const timeline = new Timeline(terminal);
  const target = under === null ? named : { ...under.target, ...named };
  const agreed = under === null ? {} : termsOf(under);
  const all = { ...sendOptions, ...agreed, signal, ...(artifacts.length === 0 ? {} : { artifacts }) };
  const sending = options.flag("notify") ? notify(client, target, input, all) : client.send(target, input, all);
  const handle = await terminal.busy("sending", sending).catch(async (error: unknown) => {
    throw await inCliWords(error, client, target);
  });
  timeline.mark(handle.receipt?.repeated === true ? "accepted before" : "accepted");
  if (options.flag("no-wait")) return accepted(context, handle, timeline);
  // Whoever only reads what came out needs it where something goes wrong; then it is told.
  if (terminal.isLive) terminal.note(terminal.accent("dim", `handoff ${handle.id}`));
  const view = await watch(context, client, handle, timeline);
  if (terminal.json) terminal.document(view);
  else if (view.state !== "completed") {
    const { HandoffError } = await import("@handfast/client");
    report(HandoffError.ended(view), terminal);
    terminal.next(`handfast show ${view.id}`);
  }
  return exitOfHandoff(view);
}

interface Aim {
  readonly target: { readonly to?: string; readonly capability?: string };
  readonly word: string | undefined;
}

function readTarget({ arguments: words, options }: Context, contract: string | undefined): Aim {
  const to = options.text("to");
  const capability = options.text("capability");
  if (contract !== undefined) {
    const said = { ...(to === undefined ? {} : { to }), ...(capability === undefined ? {} : { capability }) };
    if (words.length <= 1) return { target: said, word: words[0] };
    const remedy = "Write handfast send --contract ID INPUT: the contract says to whom, and what is to be done.";
    throw new CliError("usage", "With --contract the only word is the input.", remedy);
  }
  if (to === undefined) {
    const [named, word] = words;
    if (capability !== undefined || named === undefined) {
      const remedy = "Name a capability: handfast send CAPABILITY [INPUT], or an agent with --to.";
      throw new CliError("usage", capability === undefined ? "To whom?" : "--capability goes with --to.", remedy);
    }
    return { target: { capability: named }, word };
  }
  if (words.length > 1) {
    const remedy = `Write --to ${to} --capability ${words[0]} and then the input.`;
    throw new CliError("usage", "With --to the words are the input, and there are two.", remedy);
  }
  return { target: { to, ...(capability === undefined ? {} : { capability }) }, word: words[0] };
}

/** A signed handoff says itself what the contract demands. */
function termsOf({ id, terms }: Contract): Pick<SendOptions, "contract" | "evidence"> {
  return terms.evidence === "signed" ? { contract: id, evidence: "signed" } : { contract: id };
}

async function inCliWords(error: unknown, client: Client, { capability }: Aim["target"]): Promise<unknown> {
  if (capability === undefined || reasonOf(error) !== "nobody_offers") return error;
  return nobodyOffers(error, client, capability);
}

async function notify(client: Client, target: Aim["target"], input: unknown, options: SendOptions): Promise<Handle> {
  const receipt = await client.notify(target, input, options);
  return client.handle(receipt.id);
}

function accepted({ terminal }: Context, handle: Handle, timeline: Timeline): ExitName {
  timeline.end();
  if (terminal.json) terminal.document(handle.receipt ?? { id: handle.id });
  else terminal.print(handle.id);
  terminal.next(`handfast show ${handle.id}`);
  return "ok";
}

/** Waiting is interrupted, not the work. */
async function watch(
  { terminal, options, signal }: Context,
  client: Client,
  handle: Handle,
  timeline: Timeline,
): Promise<HandoffView> {
  try {
    const streams = (terminal.outIsTty || options.flag("stream")) && !terminal.json;
    return await follow({ client, handle, timeline, terminal, signal, streams });
  } catch (error) {
    timeline.end();
    if (signal.aborted) {
      const next = `See it: handfast show ${handle.id}. Call it off: handfast cancel ${handle.id}`;
      terminal.note(terminal.spelled(`The handoff goes on. ${next}`));
    }
    throw error;
  }
}
