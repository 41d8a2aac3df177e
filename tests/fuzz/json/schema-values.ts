/**
 * From a schema of the wire to a value that fits it. What the schema cannot say (which id, whose fence) is filled in by
 * whoever asks; everything else comes from the schema alone, so that a new field is sent without anybody's doing.
 */

import fc from "fast-check";
import type { Random } from "../chance.ts";
import { someJson, someSchema } from "./some-json.ts";

export interface Making {
  readonly random: Random;
  /** The value of the member of this name, where it must be a particular one; undefined: any that fits. */
  readonly fill: (name: string, path: string) => unknown;
  /** How likely an optional member is to be there. */
  readonly likely: (name: string, path: string) => number;
}

type Schema = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function fitting(schema: unknown, making: Making, path = ""): unknown {
  if (!isObject(schema)) throw new Error(`no schema at ${path}`);
  const { random } = making;
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["enum"])) return random.pick(schema["enum"]);
  // Beside members of its own, a choice only says which of them must be there.
  if (Array.isArray(schema["anyOf"]) && schema["type"] === undefined) {
    return fitting(random.pick(schema["anyOf"]), making, path);
  }
  switch (schema["type"]) {
    case undefined:
      return someJson(random);
    case "null":
      return null;
    case "boolean":
      return random.chance(0.5);
    case "integer":
      return someInteger(schema, random);
    case "number":
      return (
        Number(schema["minimum"] ?? 0) +
        random.next() * (Number(schema["maximum"] ?? 1) - Number(schema["minimum"] ?? 0))
      );
    case "string":
      return someString(schema, random);
    case "array":
      return someArray(schema, making, path);
    case "object":
      return someObject(schema, making, path);
    default:
      throw new Error(`a type that is not known at ${path}: ${JSON.stringify(schema["type"])}`);
  }
}

/** Mostly small: large amounts and durations are within the limits too, but nothing would ever end. */
function someInteger(schema: Schema, random: Random): number {
  const least = Number(schema["minimum"] ?? 0);
  const most = Number(schema["maximum"] ?? Number.MAX_SAFE_INTEGER);
  const drawn = random.next();
  if (drawn < 0.05) return least;
  if (drawn < 0.08) return most;
  return random.between(least, Math.min(most, least + 100));
}

const banks = new Map<string, readonly string[]>();
const bank_size = 48;

/** Made once for each pattern: to make one from a pattern is dear. */
function matching(pattern: string): readonly string[] {
  const known = banks.get(pattern);
  if (known !== undefined) return known;
  const made = fc.sample(fc.stringMatching(new RegExp(pattern, "u")), { seed: 1, numRuns: bank_size });
  banks.set(pattern, made);
  return made;
}

function someString(schema: Schema, random: Random): string {
  const most = Number(schema["maxLength"] ?? 40);
  const least = Number(schema["minLength"] ?? 0);
  if (typeof schema["pattern"] === "string")
    return random.pick(
      matching(schema["pattern"]).filter((text) => text.length <= (schema["maxLength"] === undefined ? 600 : most)),
    );
  const text = random.pick(["", "a", "note", "hello world", "é😀 ", "a:b", "0123456789".repeat(4)]);
  return [...text.padEnd(least, "x")].slice(0, most).join("");
}

function someArray(schema: Schema, making: Making, path: string): unknown[] {
  const least = Number(schema["minItems"] ?? 0);
  const most = Math.min(Number(schema["maxItems"] ?? 3), Math.max(3, least));
  const items = Array.from({ length: making.random.between(least, most) }, (_, at) => {
    const filled = making.fill(`${at}`, `${path}/*`);
    return filled === undefined ? fitting(schema["items"], making, `${path}/*`) : filled;
  });
  return schema["uniqueItems"] === true ? [...new Set(items)] : items;
}

function someObject(schema: Schema, making: Making, path: string): Record<string, unknown> {
  const members = schema["properties"];
  if (!isObject(members)) return someMap(schema, making, path);
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const made: [string, unknown][] = [];
  for (const [name, inner] of Object.entries(members)) {
    const here = `${path}/${name}`;
    if (!required.has(name) && !making.random.chance(making.likely(name, here))) continue;
    const filled = making.fill(name, here);
    made.push([name, filled === undefined ? fitting(inner, making, here) : filled]);
  }
  return Object.fromEntries(made);
}

/** Labels and extensions have names of the user's; an object without anything said about it is a JSON Schema. */
function someMap(schema: Schema, making: Making, path: string): Record<string, unknown> {
  const { random } = making;
  const names = schema["propertyNames"];
  if (names === undefined) return someSchema(random);
  const inner = isObject(schema["additionalProperties"]) ? schema["additionalProperties"] : {};
  const count = random.between(0, 2);
  return Object.fromEntries(
    Array.from({ length: count }, () => [String(fitting(names, making, path)), fitting(inner, making, path)]),
  );
}
