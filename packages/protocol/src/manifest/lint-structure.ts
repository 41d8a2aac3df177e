// Members and their types, as the schema of the manifest has them: every fault with its place, not only the first, and in words.

import type { TSchema } from "typebox";
import { namePattern } from "../ids.ts";
import { nearestWord } from "../nearest-word.ts";
import { type Report, shown } from "./finding.ts";
import { lintName } from "./lint-name.ts";
import { compileSchema, escapePointer } from "./shorthand.ts";

/** As far as the schema of a manifest uses JSON Schema. */
interface Shape {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly propertyNames?: { readonly pattern?: string; readonly maxLength?: number };
  readonly maxProperties?: number;
  readonly items?: TSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

export function lintStructure(report: Report, schema: TSchema, value: unknown, path = ""): void {
  const shape = schema as Shape;
  const fault = (rule: string, message: string, remedy: string) => report("fault", rule, path, message, remedy);
  if (shape.enum !== undefined) {
    if (!shape.enum.includes(value))
      fault("choice", `is ${shown(value)}.`, `Write ${shape.enum.map(shown).join(" or ")}.`);
    return;
  }
  if (shape.type === undefined) return;
  if (typeOf(value) !== shape.type && !(shape.type === "number" && typeOf(value) === "integer")) {
    const remedy = isSchema(shape) ? schemaRemedy(value) : `Write ${article(shape.type)}.`;
    return fault("type", `is ${shown(value)}, which is ${article(typeOf(value))}.`, remedy);
  }
  if (isObject(value)) lintObject(report, shape, value, path);
  else if (Array.isArray(value)) lintList(report, shape, value, path);
  else if (typeof value === "string") lintText(report, shape, value, path);
  else if (typeof value === "number") lintNumber(report, shape, value, path);
}

/** The only objects of a manifest of which nothing more is said. */
function isSchema({ type, properties, propertyNames }: Shape): boolean {
  return type === "object" && properties === undefined && propertyNames === undefined;
}

/** Shorthand that stands in the place of a whole schema is written out. */
function schemaRemedy(value: unknown): string {
  const read = compileSchema(value, "output");
  const written = read.ok ? JSON.stringify(read.schema).replaceAll('":', '": ').replaceAll(',"', ', "') : text_schema;
  const example = written.length > most_example_chars ? text_schema : written;
  return `Write an object: JSON Schema such as ${example}, or members in shorthand such as {"query": "string"}.`;
}

const text_schema = '{"type": "string"}';
const most_example_chars = 80;

function lintObject(report: Report, shape: Shape, value: Readonly<Record<string, unknown>>, path: string): void {
  const { properties = {}, required = [], propertyNames, maxProperties } = shape;
  const known = Object.keys(properties);
  for (const name of required) {
    if (!Object.hasOwn(value, name)) report("fault", "missing", path, `lacks ${shown(name)}.`, `Add ${shown(name)}.`);
  }
  for (const [name, member] of Object.entries(value)) {
    const at = `${path}/${escapePointer(name)}`;
    const inside = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (inside !== undefined) lintStructure(report, inside, member, at);
    else if (shape.additionalProperties === false) {
      const near = nearestWord(name, known);
      const ext = known.includes("ext") ? ', or put it under "ext"' : "";
      const remedy = near === undefined ? `Use ${known.join(", ")}${ext}.` : `Did you mean ${shown(near)}?`;
      report("fault", "unknown_member", at, "is not a member that a manifest has here.", remedy);
    } else if (propertyNames !== undefined && !namesFit(name, propertyNames)) {
      report(
        "fault",
        "key",
        at,
        `${shown(name)} is not a URI.`,
        "Key what is your own by a URI, such as https://example.com/terms.",
      );
    }
  }
  const count = Object.keys(value).length;
  if (maxProperties !== undefined && count > maxProperties) {
    report("fault", "too_many", path, `has ${count} members.`, `Keep at most ${maxProperties}.`);
  }
}

function lintList(
  report: Report,
  { items = {}, minItems = 0, maxItems }: Shape,
  list: readonly unknown[],
  path: string,
): void {
  if (list.length < minItems) report("fault", "too_few", path, "is empty.", "Name at least one, or leave it out.");
  if (maxItems !== undefined && list.length > maxItems) {
    report("fault", "too_many", path, `has ${list.length} items.`, `Keep at most ${maxItems}.`);
  }
  // Beyond the limit it is refused whatever they are.
  for (const [index, item] of list.slice(0, maxItems).entries()) lintStructure(report, items, item, `${path}/${index}`);
}

function lintText(report: Report, { pattern, maxLength }: Shape, text: string, path: string): void {
  if (pattern === namePattern) return lintName(report, path, text);
  if (maxLength !== undefined && [...text].length > maxLength) {
    report("fault", "too_long", path, `has ${[...text].length} characters.`, `Keep at most ${maxLength}.`);
  }
  if (pattern === undefined || new RegExp(pattern, "u").test(text)) return;
  const remedy = pattern.startsWith("^https?")
    ? "Write a whole address: https://… , in ASCII."
    : "Keep it to 1 to 256 characters, without control characters.";
  report("fault", "form", path, `is ${shown(text)}.`, remedy);
}

function lintNumber(report: Report, { minimum, exclusiveMinimum, maximum }: Shape, number: number, path: string): void {
  const is_low =
    (minimum !== undefined && number < minimum) || (exclusiveMinimum !== undefined && number <= exclusiveMinimum);
  if (!is_low && (maximum === undefined || number <= maximum)) return;
  const from = minimum === undefined ? `above ${exclusiveMinimum ?? 0}` : `from ${minimum}`;
  report("fault", "range", path, `is ${number}.`, `Write a number ${from} up to ${maximum ?? "any"}.`);
}

function namesFit(
  name: string,
  { pattern, maxLength = Number.POSITIVE_INFINITY }: NonNullable<Shape["propertyNames"]>,
): boolean {
  return name.length <= maxLength && (pattern === undefined || new RegExp(pattern, "u").test(name));
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

const articles: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  integer: "a whole number",
  null: "null",
  number: "a number",
  object: "an object",
  string: "text",
};

function article(type: string): string {
  return articles[type] ?? type;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
