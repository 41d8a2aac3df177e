/** JSON that is sound: payloads of every kind, and JSON Schemas, ordinary and hostile. */

import type { Random } from "../chance.ts";

const texts = ["", "a", "hello", "é😀", "line\nbreak", "\u0001", "{}", "0", "x".repeat(200), "日本語", "a\u0000b"];

export function someJson(random: Random, depth = 0): unknown {
  const drawn = random.next();
  if (depth < 3 && drawn < 0.2) return Array.from({ length: random.between(0, 4) }, () => someJson(random, depth + 1));
  if (depth < 3 && drawn < 0.5) {
    const names = Array.from({ length: random.between(0, 4) }, () => random.pick(["n", "note", "done", "a", "é", ""]));
    return Object.fromEntries(names.map((name) => [name, someJson(random, depth + 1)]));
  }
  if (drawn < 0.7) return random.pick(texts);
  if (drawn < 0.8) return random.between(-1_000, 1_000);
  if (drawn < 0.85) return random.next() * 1e6;
  return random.pick([null, true, false, 0, -0, Number.MAX_SAFE_INTEGER, 1e-7]);
}

const hostile: readonly unknown[] = [
  { pattern: "^(a+)+$" },
  { pattern: "(?=a)b" },
  { pattern: "[" },
  { pattern: "(a{1,100}){1,100}" },
  { pattern: "\\p{L}+", type: "string" },
  { $ref: "#" },
  { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } },
  { $ref: "http://127.0.0.1:1/schema" },
  { $id: "http://json-schema.org/draft-07/schema#" },
  { allOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }], $defs: { a: { allOf: [{ $ref: "#" }, {}] } } },
  { uniqueItems: true, items: { type: "object" } },
  { enum: [] },
  { enum: [1, 1] },
  { type: "nothing" },
  { type: [] },
  { type: ["string", "string"] },
  { minimum: "1" },
  { multipleOf: 0 },
  { multipleOf: 1e-300 },
  { maxLength: -1 },
  { required: ["a", "a"] },
  { required: 1 },
  { properties: [] },
  { properties: JSON.parse('{"constructor":{"type":"string"},"toString":{}}') },
  { additionalProperties: { additionalProperties: { additionalProperties: {} } } },
  { not: {} },
  JSON.parse('{"if":{"type":"string"},"then":false,"else":true}'),
  { format: "regex", contentEncoding: "base64" },
  { const: { a: [1, { b: null }] } },
  { oneOf: Array.from({ length: 70 }, () => ({ type: "string" })) },
  { $dynamicRef: "#a", $dynamicAnchor: "a" },
  { unevaluatedProperties: false },
  { dependentSchemas: { a: { required: ["b"] } } },
  { "x-unknown": 1 },
  { description: 1 },
  { default: {}, examples: [1] },
];

export function someSchema(random: Random, depth = 0): Record<string, unknown> {
  if (random.chance(0.25)) return { ...Object(random.pick(hostile)) };
  const inner = () => (depth < 3 ? someSchema(random, depth + 1) : {});
  switch (random.pick(["object", "array", "string", "integer", "any", "choice"] as const)) {
    case "object":
      return {
        type: "object",
        properties: { n: inner(), note: inner() },
        ...(random.chance(0.5) ? { required: ["n"] } : {}),
      };
    case "array":
      return { type: "array", items: inner(), maxItems: random.between(0, 5) };
    case "string":
      return {
        type: "string",
        maxLength: random.between(0, 30),
        pattern: random.pick(["^[a-z]*$", "a|b", "^.{0,9}$", ""]),
      };
    case "integer":
      return { type: "integer", minimum: random.between(-10, 10) };
    case "choice":
      return { anyOf: [inner(), inner()] };
    default:
      return {};
  }
}
