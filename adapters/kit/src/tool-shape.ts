/** A tool out of a manifest: what a model must know of a capability in order to hand work to it. */

import { type AgentView, type Client, type SendOptions, type Target, UsageError } from "@handfast/client";

type Manifest = AgentView["capabilities"][number];
type JsonSchema = Readonly<Record<string, unknown>>;

export interface HandoffToolOptions extends Omit<SendOptions, "signal" | "text" | "idempotencyKey"> {
  readonly capability: string;
  /** A certain agent. Default: whoever offers the capability. */
  readonly to?: string;
  /** What the model calls it. Default: the capability's name. */
  readonly name?: string;
  /** Default: that of the manifest. */
  readonly description?: string;
  /** JSON Schema of the input. Default: that of the manifest. With it, nobody needs to offer the capability yet. */
  readonly input?: object;
}

export interface ToolShape {
  readonly name: string;
  readonly description: string;
  /** Of an object: models give arguments by name. */
  readonly schema: { readonly type: "object"; readonly properties: Record<string, unknown> } & JsonSchema;
  /** From the model's arguments to the handoff's input. */
  readonly inputOf: (args: unknown) => unknown;
}

export async function toolShapeOf(hf: Client, options: HandoffToolOptions): Promise<ToolShape> {
  const { capability, input, description } = options;
  const manifest = input === undefined || description === undefined ? await manifestOf(hf, options) : null;
  const schema = (input ?? manifest?.input_schema ?? {}) as JsonSchema;
  const named = {
    name: toolName(options.name ?? capability),
    description: description ?? manifest?.description ?? `Hands work to an agent that offers ${capability}.`,
  };
  if (schema["type"] === "object") {
    const properties = (schema["properties"] ?? {}) as Record<string, unknown>;
    return { ...named, schema: { ...schema, type: "object", properties }, inputOf: (args) => args ?? {} };
  }
  // Text, a list, or anything: by a name of its own.
  const { $defs, definitions, ...own } = schema;
  const wrapped = { type: "object" as const, properties: { input: own }, required: ["input"] };
  // What the schema refers to is looked for at its top.
  const referred = { ...($defs === undefined ? {} : { $defs }), ...(definitions === undefined ? {} : { definitions }) };
  return {
    ...named,
    schema: { ...wrapped, additionalProperties: false, ...referred },
    inputOf: (args) => (args as { readonly input?: unknown } | null)?.input ?? null,
  };
}

export function targetOf({ capability, to }: HandoffToolOptions): Target {
  return to === undefined ? { capability } : { capability, to };
}

/** What is left for `send()`. */
export function sendOptionsOf(options: HandoffToolOptions): SendOptions {
  const { capability: _capability, to: _to, name: _name, description: _description, input: _input, ...send } = options;
  return send;
}

async function manifestOf(hf: Client, { capability, to, input }: HandoffToolOptions): Promise<Manifest | null> {
  const agents =
    to === undefined
      ? (await hf.call("agents", { query: { capability, limit: 1 } })).agents
      : [await hf.call("agent", { params: { name: to } })];
  const found = agents.flatMap(({ capabilities }) => capabilities).find(({ name }) => name === capability);
  if (found !== undefined || input !== undefined) return found ?? null;
  throw new UsageError(
    `${to ?? "No agent"} ${to === undefined ? "offers" : "does not offer"} ${capability}, so nothing is known of its input.`,
    "Start its worker first, or give the options description and input (JSON Schema).",
    "nobody_offers",
  );
}

/** As model providers take it: letters, digits, underscores and hyphens, up to 64. */
function toolName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
}
