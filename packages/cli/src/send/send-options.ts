/** The options of `send`, as declared and as the client takes them. */

import type { SendOptions } from "@handfast/client";
import type { CommandOption, Environment } from "../command.ts";
import { CliError } from "../errors.ts";
import type { Options } from "../options.ts";
import { parseJson } from "./input.ts";

export const sendOptionList: readonly CommandOption[] = [
  { flags: "--to <agent>", help: "An agent by name; the words are then the input alone." },
  { flags: "--capability <name>", help: "With --to: which of its capabilities." },
  { flags: "--contract <id>", help: "Under a contract: its provider and terms; the words are then the input alone." },
  { flags: "--version-range <range>", help: "Only agents that offer the capability in such a version, as ^1.2." },
  { flags: "--text", help: "The input is plain text, not JSON." },
  { flags: "--file <path>", help: "A file to go along as an artifact; may be given several times.", many: true },
  { flags: "--no-wait", help: "Ends once the relay has accepted it, and prints its id." },
  { flags: "--notify", help: "Only tells: ends as completed when it is acknowledged." },
  { flags: "--stream", help: "Writes streamed text to stdout as it comes, also where that is no terminal." },
  { flags: "--timeout <duration>", help: "The deadline: an end is reached within it.", default: "15m" },
  { flags: "--queue <duration>", help: "How long it may wait for a delivery.", default: "the deadline" },
  { flags: "--ack <duration>", help: "How long a worker may take to acknowledge.", default: "10s" },
  { flags: "--lease <duration>", help: "How long a worker may be silent.", default: "30s" },
  { flags: "--attempt <duration>", help: "How long one attempt may run.", default: "the agent's, else 5m" },
  { flags: "--attempts <count>", help: "How many attempts there may be.", default: "3" },
  {
    flags: "--retry <when>",
    help: "until_ack: never a second attempt once acknowledged.",
    choices: ["attempts", "until_ack"],
  },
  { flags: "--idempotency-key <key>", help: "Repeats with the same key and content are one handoff." },
  { flags: "--label <name=value>", help: "Your own mark; may be given several times.", many: true },
  {
    flags: "--correlation <id>",
    help: "The group it belongs to.",
    env: "HANDFAST_CORRELATION",
    default: "its own id",
  },
  { flags: "--conversation <id>", help: "The conversation it belongs to." },
  { flags: "--ordering-key <key>", help: "Handoffs with the same key to one target are done in order." },
  { flags: "--priority <0-9>", help: "Goes before what was accepted a little earlier." },
  { flags: "--budget <kind=amount>", help: "What it may spend: cost, tokens or handoffs; several times.", many: true },
  { flags: "--expects <schema>", help: "JSON Schema that the output must fit, or @file." },
  { flags: "--evidence <kind>", help: "signed: only agents that sign what they say.", choices: ["signed", "any"] },
  { flags: "--dead-letter-to <capability>", help: "Who gets it, should it become a dead letter." },
  { flags: "--queue-if-absent", help: "Wait for somebody to offer the capability, in place of being refused." },
];

/** Everything but the files, which take time to read. */
export function readSendOptions(options: Options, env: Environment, readText: (word: string) => string): SendOptions {
  const durations = ["timeout", "queue", "ack", "lease", "attempt"] as const;
  const clocks = durations.map((name) => [name, options.duration(name)] as const);
  const retry = options.text("retry");
  const evidence = options.text("evidence");
  const expects = options.text("expects");
  const given = {
    attempts: options.number("attempts", 1, 100),
    version: options.text("version-range"),
    idempotencyKey: options.text("idempotency-key"),
    // Set for programs under `serve`: what they send belongs to the group of what they work on.
    correlation: options.text("correlation") ?? (env["HANDFAST_CORRELATION"] || undefined),
    conversation: options.text("conversation"),
    orderingKey: options.text("ordering-key"),
    priority: options.number("priority", 0, 9),
    deadLetterTo: options.text("dead-letter-to"),
  };
  const labels = pairs(options.list("label"), "label");
  const budget = readBudget(pairs(options.list("budget"), "budget"));
  return {
    ...present(Object.fromEntries(clocks)),
    ...present(given),
    ...(retry === "until_ack" || retry === "attempts" ? { retry } : {}),
    ...(evidence === "signed" || evidence === "any" ? { evidence } : {}),
    ...(expects === undefined ? {} : { expects: readSchema(expects, readText) }),
    ...(labels.size === 0 ? {} : { labels: Object.fromEntries(labels) }),
    ...(budget === null ? {} : { budget }),
    ...(options.flag("queue-if-absent") ? { queueIfAbsent: true } : {}),
    ...(options.flag("text") ? { text: true } : {}),
  };
}

function present<T extends object>(values: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof T]: Exclude<T[Key], undefined> };
}

function pairs(words: readonly string[], flag: string): ReadonlyMap<string, string> {
  return new Map(
    words.map((word) => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
      if (name !== undefined && value !== undefined) return [name, value];
      throw new CliError("usage", `--${flag} is ${JSON.stringify(word)}.`, `Write --${flag} name=value.`);
    }),
  );
}

function readBudget(given: ReadonlyMap<string, string>): NonNullable<SendOptions["budget"]> | null {
  for (const [kind, amount] of given) {
    if (!["cost", "tokens", "handoffs"].includes(kind) || !/^\d{1,15}$/.test(amount)) {
      const what = `--budget is ${JSON.stringify(`${kind}=${amount}`)}.`;
      throw new CliError("usage", what, "Write cost=N, tokens=N or handoffs=N, with a whole number.");
    }
  }
  if (given.size === 0) return null;
  return Object.fromEntries([...given].map(([kind, amount]) => [kind, Number(amount)]));
}

function readSchema(word: string, readText: (word: string) => string): Readonly<Record<string, unknown>> {
  const schema = parseJson(word.startsWith("@") ? readText(word.slice(1)) : word, "--expects", "or give it as @file.");
  if (typeof schema === "object" && schema !== null) return schema as Readonly<Record<string, unknown>>;
  throw new CliError("usage", "--expects is no JSON Schema.", "Give an object, or @file with one.");
}
