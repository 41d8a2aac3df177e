/** A manifest that is being written: from flags, and from a person's answers to what the flags left open. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Context } from "../command.ts";
import { CliError } from "../errors.ts";
import type { Options } from "../options.ts";
import { parseJson } from "../send/input.ts";

export type Members = Readonly<Record<string, unknown>>;

/** What is undefined is left out when it is written. */
export interface Draft {
  readonly agent_id: string | undefined;
  readonly capabilities: readonly Members[];
  readonly version: number | undefined;
  readonly discovery_endpoint: string | undefined;
  readonly lease_seconds: number | undefined;
}

const most = Number.MAX_SAFE_INTEGER;

export function draftOf(context: Context): Draft {
  const { options } = context;
  const capability = capabilityOf(context);
  return {
    agent_id: options.text("agent"),
    version: options.number("manifest-version", 1, most),
    capabilities: Object.values(capability).every((value) => value === undefined) ? [] : [capability],
    discovery_endpoint: options.text("endpoint"),
    lease_seconds: seconds(options, "lease"),
  };
}

function capabilityOf(context: Context): Members {
  const { options } = context;
  const tags = options.list("tag");
  const examples = options.list("example");
  const window_seconds = seconds(options, "window");
  const amount = options.number("cost", 0, most);
  const p50_ms = options.duration("p50");
  const p95_ms = options.duration("p95");
  const regions = options.list("region");
  const policy = {
    retention_seconds: seconds(options, "retention"),
    regions: regions.length === 0 ? undefined : regions,
    trains: choice(options, "trains"),
    shares: choice(options, "shares"),
  };
  return {
    name: options.text("capability"),
    description: options.text("description"),
    version: options.text("capability-version"),
    input_schema: jsonOption(context, "input-schema"),
    output_schema: jsonOption(context, "output-schema"),
    timeout_seconds: seconds(options, "timeout"),
    reliability_sla: share(options),
    sla: window_seconds === undefined ? undefined : { window_seconds, conditions: options.text("conditions") },
    idempotent: options.flag("no-retry") ? false : undefined,
    side_effects: options.text("side-effects"),
    tags: tags.length === 0 ? undefined : tags,
    examples: examples.length === 0 ? undefined : examples.map((text) => parseJson(text, "--example", "as one word.")),
    max_concurrent: options.number("max-concurrent", 1, 1_000_000),
    latency: p50_ms === undefined && p95_ms === undefined ? undefined : { p50_ms, p95_ms },
    cost: amount === undefined ? undefined : { amount, per: options.text("per") ?? "handoff" },
    data_policy: Object.values(policy).every((value) => value === undefined) ? undefined : policy,
    proposes: options.flag("proposes") ? true : undefined,
  };
}

/** JSON on the command line, or in a file: `@file`. */
function jsonOption({ options, cwd }: Context, name: string): unknown {
  const word = options.text(name);
  if (word === undefined) return undefined;
  return parseJson(
    word.startsWith("@") ? readFileSync(resolve(cwd, word.slice(1)), "utf8") : word,
    `--${name}`,
    "or give it as @file.",
  );
}

function seconds(options: Options, name: string): number | undefined {
  const ms = options.duration(name);
  return ms === undefined ? undefined : Math.ceil(ms / 1_000);
}

function share(options: Options): number | undefined {
  const text = options.text("reliability");
  if (text === undefined) return undefined;
  if (/^[01](\.\d{1,15})?$/.test(text)) return Number(text);
  throw new CliError("usage", `--reliability is ${JSON.stringify(text)}.`, "Give a share such as 0.95.");
}

function choice(options: Options, name: string): boolean | undefined {
  const text = options.text(name);
  return text === undefined ? undefined : text === "yes";
}
