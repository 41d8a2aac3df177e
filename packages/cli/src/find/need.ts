/** A need on the command line: what `find` and `negotiate` have in common. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Need } from "@handfast/client";
import { protocolLimits } from "@handfast/protocol/client";
import type { CommandOption, Context } from "../command.ts";
import { CliError } from "../errors.ts";
import { parseJson } from "../send/input.ts";

export const needOptions: readonly CommandOption[] = [
  { flags: "--version-range <range>", help: "In such a version, as ^1.2." },
  { flags: "--tag <tag>", help: "It has this tag; may be given several times.", many: true },
  { flags: "--input <json>", help: "An input that it must take: JSON, or @file." },
  { flags: "--input-schema <schema>", help: "What will be sent: JSON Schema or shorthand, or @file." },
  { flags: "--output-schema <schema>", help: "What must come back: JSON Schema or shorthand, or @file." },
  { flags: "--within <duration>", help: "It is done within this time." },
  { flags: "--min-reliability <share>", help: "The share of attempts that succeed, from 0 to 1." },
  { flags: "--max-cost <amount>", help: "The highest price, in millionths of the unit of account." },
  {
    flags: "--per <unit>",
    help: "Of what; with --max-cost.",
    choices: ["handoff", "thousand_tokens"],
    default: "handoff",
  },
  { flags: "--retention <duration>", help: "It keeps what it is given no longer than this." },
  { flags: "--region <name>", help: "It works in such regions only; may be given several times.", many: true },
  { flags: "--no-training", help: "It promises not to train on what it is given." },
  { flags: "--no-sharing", help: "It promises not to pass on what it is given." },
  {
    flags: "--side-effects <kind>",
    help: "The most that a run may change.",
    choices: ["none", "reversible", "irreversible"],
  },
  { flags: "--live", help: "Only agents with a worker that was heard of lately." },
];

/** All but words and name, which each command takes in its own place. */
export function readNeed(context: Context): Need {
  const { options, cwd } = context;
  const json = (name: string) => jsonOf(options.text(name), name, cwd);
  const tags = options.list("tag");
  const version = options.text("version-range");
  const within = options.duration("within", protocolLimits.duration_ms);
  const input = json("input");
  const inputSchema = schemaOf(json("input-schema"), "input-schema");
  const outputSchema = schemaOf(json("output-schema"), "output-schema");
  const maxCost = costOf(context);
  const dataPolicy = policyOf(context);
  const sideEffects = options.text("side-effects") as Need["sideEffects"];
  const minReliability = share(options.text("min-reliability"));
  return {
    ...(version === undefined ? {} : { version }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(input === undefined ? {} : { input }),
    ...(inputSchema === undefined ? {} : { inputSchema }),
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(within === undefined ? {} : { within }),
    ...(minReliability === undefined ? {} : { minReliability }),
    ...(maxCost === undefined ? {} : { maxCost }),
    ...(dataPolicy === undefined ? {} : { dataPolicy }),
    ...(sideEffects === undefined ? {} : { sideEffects }),
    ...(options.flag("live") ? { live: true } : {}),
  };
}

function costOf({ options }: Context): Need["maxCost"] {
  const amount = options.number("max-cost", 0, Number.MAX_SAFE_INTEGER);
  const per = options.text("per");
  if (amount !== undefined) return { amount, per: per === "thousand_tokens" ? per : "handoff" };
  if (per === undefined) return undefined;
  throw new CliError("usage", "--per says of what a price is, and there is none.", "Give --max-cost too.");
}

/** Undefined: nothing is asked of it. */
function policyOf({ options }: Context): Need["dataPolicy"] {
  const retention = options.duration("retention");
  const regions = options.list("region");
  const policy = {
    ...(retention === undefined ? {} : { retention }),
    ...(regions.length === 0 ? {} : { regions }),
    ...(options.flag("no-training") ? { trains: false } : {}),
    ...(options.flag("no-sharing") ? { shares: false } : {}),
  };
  return Object.keys(policy).length === 0 ? undefined : policy;
}

function jsonOf(word: string | undefined, name: string, cwd: string): unknown {
  if (word === undefined) return undefined;
  const text = word.startsWith("@") ? readFileSync(resolve(cwd, word.slice(1)), "utf8") : word;
  return parseJson(text, `--${name}`, "or give it as @file.");
}

function schemaOf(value: unknown, name: string): object | undefined {
  if (value === undefined || (typeof value === "object" && value !== null)) return value;
  throw new CliError("usage", `--${name} is no schema.`, "Give an object, or @file with one.");
}

function share(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (value <= 1) return value;
  const what = `--min-reliability is ${JSON.stringify(text)}.`;
  throw new CliError("usage", what, "Give a share from 0 to 1: 0.95 for 95 of 100 attempts.");
}
