/** `handfast serve NAME -- COMMAND…`: any program becomes an agent. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Client, Context as WorkContext } from "@handfast/client";
import { readClientSettings } from "../client-settings.ts";
import type { Command, Context } from "../command.ts";
import { CliError } from "../errors.ts";
import type { ExitName } from "../exit-codes.ts";
import { parseJson } from "../send/input.ts";
import { cleanLine } from "../text.ts";
import { checkProgram } from "./find-program.ts";
import { serveLimits as limits } from "./limits.ts";
import type { Program } from "./program-agent.ts";
import { programVariables } from "./program-environment.ts";
import { Running } from "./running.ts";

export const serveCommand: Command = {
  name: "serve",
  summary: "Makes an agent of any program.",
  description: `For each handoff COMMAND runs once: the input on stdin as JSON (with --text as it is), the output from stdout.
Lines on stderr show as progress; one that begins with a percentage says how far it is.
Exit 0: completed. Exit 75: failed, and another attempt may help. Anything else: failed, with the last 4 KB of stderr.
When the handoff is canceled or its time is over, the program and all that it forked get SIGTERM, after 5 s SIGKILL.
The program finds in its environment:
${programVariables.map(([name, help]) => `  ${name}: ${help}`).join("\n")}`,
  arguments: [
    { name: "name", help: "The capability to offer." },
    { name: "command", help: "The program and its arguments, after --.", many: true },
  ],
  options: [
    { flags: "--text", help: "Input and output are plain text, not JSON." },
    { flags: "--stream", help: "Passes stdout on as it comes, in chunks; it is the output too." },
    { flags: "-c, --concurrency <count>", help: "How many handoffs at once.", default: "1" },
    { flags: "--timeout <duration>", help: "How long one attempt may run.", default: "5m" },
    { flags: "--grace <duration>", help: "What runs at Ctrl-C or SIGTERM has so long to end.", default: "20s" },
    { flags: "--no-retry", help: "Never run it a second time once it began: a lost worker makes a dead letter." },
    { flags: "--description <text>", help: "What it does, for those who look for it." },
    { flags: "--input-schema <schema>", help: "JSON Schema of the input, or @file; the relay checks it." },
    { flags: "--output-schema <schema>", help: "JSON Schema of the output, or @file." },
    { flags: "--manifest <file>", help: "What a manifest file says; flags go before it. All of it is offered." },
    { flags: "--tag <tag>", help: "For those who look for it; may be given several times.", many: true },
    { flags: "--worker <name>", help: "Name of this process, one of those that share the agent's key." },
  ],
  connects: true,
  agentHelp: "The agent that offers it. Default: the manifest's agent_id; without one NAME-1.",
  examples: [
    { line: "serve upper --text -- tr a-z A-Z", help: "Text in, text out" },
    { line: "serve web_research --concurrency 4 -- python3 research.py", help: "JSON on stdin, JSON on stdout" },
    { line: "serve web_research --manifest manifest.json -- python3 research.py", help: "With the terms of a file" },
    { line: "serve ask_model --text --stream -- ./model.sh", help: "The sender sees the text as it is written" },
  ],
  run,
};

async function run(context: Context): Promise<ExitName> {
  const { terminal, options, env, cwd, signal } = context;
  const [name = "", program, ...words] = context.arguments;
  if (program === undefined) throw new CliError("usage", "There is no program to run.", "Write it after --.");
  checkProgram(program, env, cwd);
  const concurrency = options.number("concurrency", 1, 256) ?? 1;
  const manifest = await manifestOf(context, name);
  const definition = { ...manifest?.definition, ...readDefinition(context) };
  const who = { agent: manifest?.agent ?? `${name}-1`, ...(manifest === null ? {} : { terms: manifest.terms }) };
  const client = await context.connect("agent", { ...who, signs: true, persists: true });
  if (manifest !== null && manifest.agent !== client.agent) {
    terminal.note(cleanLine(`The file's agent_id is ${manifest.agent}; it is offered by ${client.agent}.`));
  }
  const { runForHandoff } = await import("./program-agent.ts");
  const running = new Running(terminal);
  const text = options.flag("text");
  const agent: Program = {
    command: [program, ...words],
    cwd,
    env: { ...env, ...credentials(context) },
    text,
    stream: options.flag("stream"),
    output_bytes: await payloadLimit(client),
  };
  const handler = (input: unknown, ctx: WorkContext) => running.follow(ctx, runForHandoff(agent, client, input, ctx));
  const worker = options.text("worker");
  const grace = options.duration("grace");
  const elsewhere = manifest?.others ?? {};
  await noteTakenBack(context, client, [name, ...Object.keys(elsewhere)]);
  const server = await client.serve(
    { [name]: { ...definition, text, handler } },
    // Of signals the second must end the programs too, so they are handled here.
    { concurrency, signals: false, elsewhere, ...(worker === undefined ? {} : { worker }) },
  );
  const stop = () => {
    running.stopping();
    server.stop(grace === undefined ? {} : { grace }).catch(() => undefined);
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  running.began({ capability: name, agent: server.agent, worker: server.worker, relay: client.url });
  const where = options.text("url") === undefined ? "" : ` --url ${client.url}`;
  terminal.next(`handfast send ${name}${where} ${text ? "--text hello" : "'{}'"}`);
  await server.stopped;
  // A program that was told to end has its five seconds, though its lease was given back before.
  await running.settled(limits.kill_ms + limits.drain_ms);
  running.ended();
  return "ok";
}

/** Null: no file was named. */
async function manifestOf({ options, terminal, cwd }: Context, name: string) {
  const file = options.text("manifest");
  if (file === undefined) return null;
  const { fromManifest } = await import("./from-manifest.ts");
  const found = await fromManifest(file, name, cwd);
  const others = Object.keys(found.others).join(", ");
  if (others !== "") terminal.note(`${file} offers ${others} too: this process works for ${name} alone.`);
  for (const each of found.proposing) {
    terminal.note(
      `${file} says that ${each} wants to be asked, and serve cannot answer: offers are made from the file. ` +
        "To answer yourself, serve in a program (docs/agreeing.md).",
    );
  }
  return found;
}

/** An agent has one manifest: what a second process does not name is offered no longer, also where the first one runs. */
async function noteTakenBack({ terminal }: Context, client: Client, offered: readonly string[]): Promise<void> {
  const { capabilities } = await client.call("agent", { params: { name: client.agent } });
  const lost = capabilities.map(({ name }) => name).filter((name) => !offered.includes(name));
  if (lost.length === 0) return;
  const what = lost.join(", ");
  terminal.note(
    cleanLine(
      `${client.agent} offered ${what} until now, and no longer does: an agent offers what was said of it last. ` +
        `To offer all of it, put ${lost.length === 1 ? "both" : "all"} into one file and serve each with --manifest, ` +
        "or serve under another --agent.",
    ),
  );
}

/** A program that calls `handfast` itself does so as this agent, also where flags said who that is. */
function credentials({ options, env, cwd }: Context): Readonly<Record<string, string>> {
  const { key, token } = readClientSettings(options, env, cwd);
  return {
    ...(key === undefined ? {} : { HANDFAST_KEY: key }),
    ...(token === undefined ? {} : { HANDFAST_TOKEN: token }),
  };
}

/** The relay says how much it takes; without a word of it the protocol's megabyte holds. */
async function payloadLimit(client: Client): Promise<number> {
  const { limits: told } = await client.call("well_known", {});
  return told["inline_payload_bytes"] ?? limits.output_bytes;
}

function readDefinition({ options, cwd }: Context) {
  const schema = (flag: string) => {
    const word = options.text(flag);
    if (word === undefined) return undefined;
    const written = word.startsWith("@") ? readFileSync(resolve(cwd, word.slice(1)), "utf8") : word;
    const value = parseJson(written, `--${flag}`);
    if (typeof value === "object" && value !== null) return value as Readonly<Record<string, unknown>>;
    throw new CliError("usage", `--${flag} is no JSON Schema.`, "Give an object, or @file with one.");
  };
  const input = schema("input-schema");
  const output = schema("output-schema");
  const timeout = options.duration("timeout");
  const description = options.text("description");
  const tags = options.list("tag");
  return {
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(description === undefined ? {} : { description }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(options.flag("no-retry") ? { idempotent: false } : {}),
  };
}
