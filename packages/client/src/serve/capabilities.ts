/** What a worker serves: handlers by the name of their capability, and the manifest that follows from them. */

import type { Capability, Cost } from "@handfast/protocol";
import { isName } from "@handfast/protocol/client";
import { type Duration, toMilliseconds } from "../duration.ts";
import { UsageError } from "../errors.ts";
import { shown } from "../shown.ts";
import { textList } from "../text-list.ts";
import type { Context } from "./context.ts";
import type { Propose } from "./propose.ts";
import { type ReadSchema, type Received, type Returned, readSchema } from "./schema.ts";
import { type CapabilityTerms, stateTerms, termNames } from "./terms.ts";

/**
 * Does the work of one handoff and returns its output. What it throws decides what happens: `Fail` ends the handoff,
 * `Retry` asks for another attempt, `Reject` leaves it to another agent, any other error is retried.
 *
 * Without a typed schema the input is `unknown`, and a handler may name the type it expects.
 */
export type Handler<Input = unknown, Output = unknown> = (unknown extends Input
  ? { of(input: Input, ctx: Context): Output | Promise<Output> }
  : { readonly of: (input: Input, ctx: Context) => Output | Promise<Output> })["of"];

/** One capability in full. Its schemas are checked by the relay: input before it is accepted, output before it counts. */
export interface CapabilityDefinition<Input = unknown, Output = unknown> extends CapabilityTerms {
  /** zod, valibot (by its converter), TypeBox, JSON Schema, or shorthand: `{ query: "string" }`. Default: anything. */
  readonly input?: Input;
  readonly output?: Output;
  /** The attempt clock: how long one attempt may run. Default: the relay's, 5 minutes. */
  readonly timeout?: Duration;
  readonly description?: string;
  readonly version?: string;
  readonly tags?: readonly string[];
  /** False: never run a second time once it was acknowledged; a lost worker makes a dead letter. Default: true. */
  readonly idempotent?: boolean;
  readonly ext?: Readonly<Record<string, unknown>>;
  /** The handler is given text and returns text, sent as plain text and not as JSON. */
  readonly text?: boolean;
  /**
   * Asked before an offer is made in this agent's name: it prices, narrows the terms, or declines (`throw new Reject`). With it
   * the capability `proposes`, unless it says otherwise.
   */
  readonly propose?: Propose;
  readonly handler: Handler<Received<Input>, Returned<Output>>;
}

/** Handlers by capability: a definition each, or a bare function where there is nothing to say but the handler. */
export type Capabilities<Inputs, Outputs> = {
  readonly [Name in keyof Inputs]:
    | CapabilityDefinition<Inputs[Name], Name extends keyof Outputs ? Outputs[Name] : unknown>
    | Handler;
} & {
  readonly [Name in keyof Outputs]: { readonly output?: Outputs[Name] } | Handler;
};

/** All of a capability but who does the work. */
type Described = Omit<CapabilityDefinition, "handler">;

/** What a manifest says of a capability. */
export interface Listed {
  /** Without its cost, which is sealed where it is stated. */
  readonly capability: Capability;
  readonly cost: Cost | null;
}

/** A capability as the loop uses it. */
export interface Offered extends Listed {
  readonly input: ReadSchema | null;
  readonly output: ReadSchema | null;
  readonly text: boolean;
  readonly propose: Propose | null;
  readonly handler: (input: unknown, ctx: Context) => unknown;
}

const known: ReadonlySet<string> = new Set<keyof CapabilityDefinition>([
  ...([
    "input",
    "output",
    "timeout",
    "description",
    "version",
    "tags",
    "idempotent",
    "ext",
    "text",
    "propose",
    "handler",
  ] as const),
  ...termNames,
]);

export function readCapabilities(capabilities: object): ReadonlyMap<string, Offered> {
  const entries = Object.entries(capabilities);
  if (entries.length === 0) {
    throw new UsageError("There is no capability to serve.", "Name at least one: serve({ shout: (input) => … }).");
  }
  return new Map(entries.map(([name, entry]) => [name, read(name, entry)]));
}

export function readElsewhere(capabilities: Readonly<Record<string, Described>>): ReadonlyMap<string, Listed> {
  return new Map(
    Object.entries(capabilities).map(([name, definition]) => {
      checkName(name);
      const { capability, cost } = describe(name, definition);
      return [name, { capability, cost }];
    }),
  );
}

function checkName(name: string): void {
  if (isName(name)) return;
  throw new UsageError(
    `${JSON.stringify(name)} is no name for a capability.`,
    "Use up to 128 letters, digits, dots, underscores and hyphens, beginning with a letter or digit.",
  );
}

function read(name: string, entry: unknown): Offered {
  checkName(name);
  const definition = typeof entry === "function" ? { handler: entry as Handler } : entry;
  if (!isDefinition(definition)) {
    throw new UsageError(
      `The capability ${name} has no handler.`,
      `Give one: { ${name}: { handler: (input, ctx) => … } }.`,
    );
  }
  const { propose = null } = definition;
  if (propose !== null && typeof propose !== "function") {
    throw new UsageError(
      `The propose of ${name} is ${shown(propose)}.`,
      "Give a function: propose: (call) => ({ … }).",
    );
  }
  return {
    ...describe(name, definition),
    text: definition.text ?? false,
    propose,
    handler: definition.handler as Offered["handler"],
  };
}

function describe(name: string, definition: Described): Pick<Offered, "capability" | "cost" | "input" | "output"> {
  const strange = Object.keys(definition).find((key) => !known.has(key));
  if (strange !== undefined) {
    throw new UsageError(
      `${JSON.stringify(strange)} is not an option of the capability ${name}.`,
      `Use ${[...known].join(", ")}.`,
    );
  }
  const input =
    definition.input === undefined
      ? null
      : readSchema(definition.input, "input", `The input of ${name}`, "shorthand_too");
  const output =
    definition.output === undefined
      ? null
      : readSchema(definition.output, "output", `The output of ${name}`, "shorthand_too");
  return {
    capability: manifestOf(name, definition, input, output),
    cost: definition.cost ?? null,
    input,
    output,
  };
}

function isDefinition(entry: unknown): entry is CapabilityDefinition {
  return typeof entry === "object" && entry !== null && "handler" in entry && typeof entry.handler === "function";
}

function manifestOf(
  name: string,
  { timeout, description, version, tags, idempotent, ext, propose, ...terms }: Described,
  input: ReadSchema | null,
  output: ReadSchema | null,
): Capability {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(version === undefined ? {} : { version }),
    ...(input === null ? {} : { input_schema: input.json }),
    ...(output === null ? {} : { output_schema: output.json }),
    ...(timeout === undefined
      ? {}
      : { timeout_seconds: Math.max(1, Math.ceil(toMilliseconds(timeout, `The timeout of ${name}`) / 1000)) }),
    ...(idempotent === undefined ? {} : { idempotent }),
    ...(tags === undefined ? {} : { tags: textList(tags, `The tags of ${name}`) }),
    ...stateTerms(name, propose === undefined ? terms : { proposes: true, ...terms }),
    ...(ext === undefined ? {} : { ext }),
  };
}
