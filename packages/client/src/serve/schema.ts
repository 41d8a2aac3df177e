/**
 * Schemas by what they can do, whatever library made them. Three kinds are taken: whatever has the Standard JSON Schema
 * interface (zod; valibot by its converter; others), TypeBox schemas, and plain JSON Schema. No library is imported.
 */

import type { Static } from "@handfast/protocol/wire";
import { UsageError } from "../errors.ts";

/** What the common interface of schema libraries says about types. */
export interface StandardSchema<Input = unknown, Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What a handler is given for an input schema: after its defaults and transforms. `unknown` where no schema says. */
export type Received<S> = unknown extends S
  ? unknown
  : S extends StandardSchema<infer _Input, infer Output>
    ? Output
    : S extends object
      ? Static<S>
      : unknown;

/** What a handler returns for an output schema: before its defaults. `unknown` where no schema says. */
export type Returned<S> = unknown extends S
  ? unknown
  : S extends StandardSchema<infer Input, infer _Output>
    ? Input
    : S extends object
      ? Static<S>
      : unknown;

type JsonSchema = Record<string, unknown>;

type Checked = { readonly value: unknown } | { readonly issues: readonly Issue[] };
interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

interface Standard {
  readonly vendor: string;
  readonly validate?: (value: unknown) => Checked | Promise<Checked>;
  readonly jsonSchema?: Record<"input" | "output", (options: { readonly target: string }) => JsonSchema>;
}

/** A schema that was read: as the relay checks it, and as its library checks and completes it. */
export interface ReadSchema {
  readonly json: JsonSchema;
  check(value: unknown): Promise<{ readonly value: unknown } | { readonly fault: string }>;
}

/** `where` is how a person finds it, such as "the input of web_research". Manifests and needs may be in shorthand too. */
export function readSchema(
  schema: unknown,
  side: "input" | "output",
  where: string,
  form: "in_full" | "shorthand_too" = "in_full",
): ReadSchema {
  const standard = standardOf(schema);
  if (standard === null) return { json: plainJson(schema, where, form), check: async (value) => ({ value }) };
  const { validate } = standard;
  return {
    json: convert(standard, side, where),
    check: async (value) => {
      if (validate === undefined) return { value };
      const checked = await validate(value);
      return "issues" in checked && checked.issues !== undefined
        ? { fault: checked.issues.map(sentence).join("; ") }
        : { value: (checked as { readonly value: unknown }).value };
    },
  };
}

/** Some libraries make their schemas functions. */
function standardOf(schema: unknown): Standard | null {
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) return null;
  return "~standard" in schema ? (schema["~standard"] as Standard) : null;
}

function convert({ vendor, jsonSchema }: Standard, side: "input" | "output", where: string): JsonSchema {
  if (jsonSchema === undefined)
    throw new UsageError(`${where} is a ${vendor} schema that cannot tell its JSON Schema.`, remedyFor(vendor));
  try {
    return jsonSchema[side]({ target: "draft-2020-12" });
  } catch (error) {
    throw new UsageError(
      `${where} cannot be written as JSON Schema: ${error instanceof Error ? error.message : String(error)}.`,
      "Describe what goes over the wire: JSON has no dates, maps or transformed values. Do the rest in the handler.",
    );
  }
}

function remedyFor(vendor: string): string {
  if (vendor === "valibot") return "Wrap it: toStandardJsonSchema(schema), from @valibot/to-json-schema.";
  if (vendor === "zod") return "Use zod 4.2 or newer.";
  return "Use a version of it with the Standard JSON Schema interface, or give plain JSON Schema.";
}

const remedies = {
  in_full: 'Give a zod, valibot or TypeBox schema, or a JSON Schema object: { type: "string" }.',
  shorthand_too:
    'Give a zod, valibot or TypeBox schema, a JSON Schema object: { type: "string" }, or an object in shorthand: { query: "string" }.',
} as const;

function plainJson(schema: unknown, where: string, form: keyof typeof remedies): JsonSchema {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw new UsageError(`${where} is ${schema === null ? "null" : typeof schema}, not a schema.`, remedies[form]);
  }
  // TypeBox marks its schemas with members that are not enumerable: only the JSON of it is the schema.
  try {
    return JSON.parse(JSON.stringify(schema)) as JsonSchema;
  } catch (error) {
    const message = `${where} cannot be written as JSON: ${error instanceof Error ? error.message : String(error)}.`;
    throw new UsageError(message, "Give a JSON Schema object that JSON can hold.");
  }
}

function sentence({ message, path = [] }: Issue): string {
  const place = path.map((step) => `/${String(typeof step === "object" ? step.key : step)}`).join("");
  return place === "" ? message : `${place}: ${message}`;
}
