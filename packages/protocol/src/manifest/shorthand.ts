/**
 * Schemas in full or in shorthand, read into JSON Schema 2020-12.
 *
 * Shorthand is a type (`"string"`, `"int"` …), a list (`"string[]"`, `["string"]`), or an object whose members are again
 * shorthand or JSON Schema: `{"query": "string", "depth?": "int"}`. An object can often be read both ways, so one rule decides:
 *
 * 1. It is **JSON Schema** if all its members are keywords of JSON Schema, and at least one of them is more than an
 *    annotation, or has a value that is no shorthand. An empty object is JSON Schema: anything.
 * 2. Otherwise it is **shorthand** if every value is shorthand or JSON Schema.
 * 3. Otherwise it is a **fault**, at its place.
 *
 * What is JSON Schema is left as it is, and nothing within it is read as shorthand.
 */

import { protocolLimits as limits } from "../limits.ts";
import { isAssertion, isKeyword } from "./schema-keywords.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Inputs are closed: a member that nobody asked for is a mistake of the sender. Outputs are open: an agent may say more. */
export type SchemaSide = "input" | "output";

export interface SchemaFault {
  /** JSON pointer into the schema. */
  readonly path: string;
  /** The member that made it no JSON Schema, where it was meant as one. */
  readonly keyword: string | null;
  /** Follows the name of the place: "is …". */
  readonly message: string;
}

export type CompiledShorthand =
  | { readonly ok: true; readonly schema: JsonSchema; readonly is_shorthand: boolean }
  | { readonly ok: false; readonly fault: SchemaFault };

const types: ReadonlyMap<string, JsonSchema> = new Map<string, JsonSchema>([
  ["string", { type: "string" }],
  ["int", { type: "integer" }],
  ["integer", { type: "integer" }],
  ["number", { type: "number" }],
  ["float", { type: "number" }],
  ["bool", { type: "boolean" }],
  ["boolean", { type: "boolean" }],
  ["object", { type: "object" }],
  ["array", { type: "array" }],
  ["null", { type: "null" }],
  ["any", {}],
]);

/** What other languages call them. */
const elsewhere: ReadonlyMap<string, string> = new Map([
  ["str", "string"],
  ["text", "string"],
  ["date", "string"],
  ["datetime", "string"],
  ["long", "int"],
  ["double", "number"],
  ["decimal", "number"],
  ["dict", "object"],
  ["map", "object"],
  ["record", "object"],
  ["list", "array"],
  ["none", "null"],
  ["unknown", "any"],
]);

/** Reads a schema as it stands in a manifest. What is JSON Schema already comes back as the very same object. */
export function compileSchema(schema: unknown, side: SchemaSide): CompiledShorthand {
  const read = new Reader(side).value(schema, "", 0);
  if (!read.ok) return read;
  if (read.optional) return fault("", "is optional, which only a member of an object can be; take the ? away");
  return { ok: true, schema: read.schema, is_shorthand: read.schema !== schema };
}

type Read =
  | { readonly ok: true; readonly schema: JsonSchema; readonly optional: boolean }
  | { readonly ok: false; readonly fault: SchemaFault };

class Reader {
  readonly #side: SchemaSide;
  #parts = 0;

  constructor(side: SchemaSide) {
    this.#side = side;
  }

  /** Looks at every part once, so it costs no more than the text was long. */
  value(value: unknown, path: string, depth: number): Read {
    if (depth > limits.shorthand_depth) return fault(path, `is nested more than ${limits.shorthand_depth} levels deep`);
    if (++this.#parts > limits.shorthand_parts) return fault(path, `is part ${this.#parts} of a schema; split it`);
    if (typeof value === "string") return typeNamed(value, path);
    if (Array.isArray(value)) return this.#list(value, path, depth);
    if (isObject(value)) return this.#object(value, path, depth);
    return fault(path, `is ${JSON.stringify(value)}, which is neither a type nor a schema`);
  }

  #list(list: readonly unknown[], path: string, depth: number): Read {
    if (list.length !== 1) {
      return fault(path, `is a list of ${list.length}; a list in shorthand names its one type: ["string"]`);
    }
    const item = this.value(list[0], `${path}/0`, depth + 1);
    if (!item.ok) return item;
    if (item.optional) return fault(`${path}/0`, "is optional, which an item of a list cannot be; take the ? away");
    return { ok: true, schema: listOf(item.schema), optional: false };
  }

  #object(object: JsonSchema, path: string, depth: number): Read {
    const names = Object.keys(object);
    const strange = names.find((name) => !isKeyword(name));
    const whole: Read = { ok: true, schema: object, optional: false };
    if (strange === undefined && (names.length === 0 || names.some(isAssertion))) return whole;
    const before = this.#parts;
    const read = this.#members(object, path, depth);
    if (read.ok || strange !== undefined) return read.ok ? read : blame(read.fault, object, strange, path);
    // Annotations with texts that name no type: JSON Schema, whose parts are not ours to count.
    this.#parts = before;
    return whole;
  }

  #members(object: JsonSchema, path: string, depth: number): Read {
    const properties: [string, JsonSchema][] = [];
    const required: string[] = [];
    const seen = new Set<string>();
    for (const [written, value] of Object.entries(object)) {
      const at = `${path}/${escapePointer(written)}`;
      const is_marked = written.endsWith("?");
      const name = is_marked ? written.slice(0, -1) : written;
      if (name === "") return fault(at, "has no name but the ? that makes it optional; name it");
      if (seen.has(name)) return fault(at, `is ${JSON.stringify(name)} a second time; keep one`);
      seen.add(name);
      const read = this.value(value, at, depth + 1);
      if (!read.ok) return read;
      properties.push([name, read.schema]);
      if (!is_marked && !read.optional) required.push(name);
    }
    const schema = {
      type: "object",
      // Makes members, whatever they are called: __proto__ too.
      properties: Object.fromEntries(properties),
      ...(required.length === 0 ? {} : { required }),
      ...(this.#side === "input" ? { additionalProperties: false } : {}),
    };
    return { ok: true, schema, optional: false };
  }
}

/** Of an object that is neither: what was meant decides what is wrong with it. */
function blame(found: SchemaFault, object: JsonSchema, strange: string | undefined, path: string): Read {
  const inside = found.path.slice(path.length + 1).split("/")[0] ?? "";
  const member = inside.replaceAll("~1", "/").replaceAll("~0", "~");
  const meant_in_full = strange !== undefined && Object.hasOwn(object, member) && isAssertion(member);
  if (!meant_in_full) return { ok: false, fault: found };
  const message = "is not a keyword of JSON Schema; remove it, or write the whole object in shorthand";
  return { ok: false, fault: { path, keyword: strange, message } };
}

function typeNamed(text: string, path: string): Read {
  const optional = text.endsWith("?");
  let name = optional ? text.slice(0, -1) : text;
  let lists = 0;
  while (name.endsWith("[]") && lists < limits.shorthand_depth) {
    name = name.slice(0, -2);
    lists++;
  }
  const type = types.get(name);
  if (type === undefined) return fault(path, unknownType(text, name));
  let schema = type;
  for (; lists > 0; lists--) schema = listOf(schema);
  return { ok: true, schema, optional };
}

function unknownType(text: string, name: string): string {
  const shown = JSON.stringify(text.length > shown_chars ? `${text.slice(0, shown_chars)}…` : text);
  const low = name.toLowerCase();
  const meant = types.has(low) ? low : elsewhere.get(low);
  const next = meant === undefined ? `use ${[...types.keys()].join(", ")}, or a JSON Schema` : `write "${meant}"`;
  return `is ${shown}, which names no type; ${next}`;
}

const shown_chars = 40;

function listOf(items: JsonSchema): JsonSchema {
  return { type: "array", items };
}

function fault(path: string, message: string): { readonly ok: false; readonly fault: SchemaFault } {
  return { ok: false, fault: { path, keyword: null, message } };
}

export function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null;
}
