/** Draws JSON Schemas of every keyword that the relay takes. */

import type { Tape } from "./tape.ts";
import {
  bounds,
  divisors,
  type Json,
  type JsonObject,
  names,
  numbers,
  patterns,
  strings,
  types,
} from "./vocabulary.ts";

export type DrawnSchema = JsonObject | boolean;

const depth_most = 3;
const definitions = ["d0", "d1"] as const;
const many = Array.from({ length: 9 }, (_, n) => `m${n}`);

/** A whole schema: what it refers to is in it. */
export function drawSchema(tape: Tape): DrawnSchema {
  const schema = drawPart(tape, depth_most);
  return typeof schema === "boolean" ? schema : withDefinitions(schema, tape);
}

/** References are drawn anywhere, so the definitions are always there. */
function withDefinitions(schema: JsonObject, tape: Tape): JsonObject {
  if (!JSON.stringify(schema).includes("$ref")) return schema;
  const $defs = { d0: referring(drawPart(tape, 1), []), d1: referring(drawPart(tape, 1), ["d0"]) };
  return { ...schema, $defs };
}

/** Only to these, so that nothing goes round in a circle. */
function referring(schema: Json, to: readonly string[]): Json {
  if (Array.isArray(schema)) return schema.map((part) => referring(part, to));
  if (typeof schema !== "object" || schema === null) return schema;
  const isKept = ([name, value]: readonly [string, Json]) =>
    name !== "$ref" || to.some((each) => value === `#/$defs/${each}`);
  const entries = Object.entries(schema).filter(isKept);
  return Object.fromEntries(entries.map(([name, value]) => [name, referring(value, to)]));
}

export function drawPart(tape: Tape, depth: number): DrawnSchema {
  const kinds = depth <= 0 ? leaves : tape.once(3) ? [...leaves, ...combinations] : [...leaves, ...structures];
  return tape.pick(kinds)(tape, depth);
}

type Draw = (tape: Tape, depth: number) => DrawnSchema;

const anything: Draw = (tape) => tape.pick([true, {}, {}, false]);
const typed: Draw = (tape) => ({ type: tape.pick(types) });
const someTypes: Draw = (tape) => ({ type: [...new Set([tape.pick(types), tape.pick(types)])] });
const constant: Draw = (tape) => ({ const: drawValue(tape, 1) });
const listed: Draw = (tape) => ({ enum: distinct([drawValue(tape, 1), ...tape.list(3, () => drawValue(tape, 1))]) });
const reference: Draw = (tape) => ({ $ref: `#/$defs/${tape.pick(definitions)}` });

const text: Draw = (tape) => ({
  ...(tape.once(4) ? {} : { type: "string" }),
  ...maybe(tape, "minLength", () => tape.below(4)),
  ...maybe(tape, "maxLength", () => tape.below(5)),
  ...(tape.once(4) ? { pattern: tape.pick(patterns) } : {}),
});

const amount: Draw = (tape) => ({
  ...(tape.once(4) ? {} : { type: tape.pick(["integer", "number"]) }),
  ...maybe(tape, "minimum", () => tape.pick(bounds)),
  ...maybe(tape, "maximum", () => tape.pick(bounds)),
  ...(tape.once(5) ? { exclusiveMinimum: tape.pick(bounds) } : {}),
  ...(tape.once(5) ? { exclusiveMaximum: tape.pick(bounds) } : {}),
  ...(tape.once(4) ? { multipleOf: tape.pick(divisors) } : {}),
});

const array: Draw = (tape, depth) => ({
  ...(tape.once(4) ? {} : { type: "array" }),
  ...maybe(tape, "items", () => drawPart(tape, depth - 1)),
  ...(tape.once(4)
    ? { prefixItems: [drawPart(tape, depth - 1), ...tape.list(1, () => drawPart(tape, depth - 1))] }
    : {}),
  ...maybe(tape, "minItems", () => tape.below(3)),
  ...maybe(tape, "maxItems", () => tape.below(4)),
  ...(tape.once(5) ? { uniqueItems: tape.pick([true, false]) } : {}),
  ...(tape.once(5) ? drawContains(tape, depth) : {}),
});

function drawContains(tape: Tape, depth: number): JsonObject {
  const contains = drawPart(tape, depth - 1);
  if (!tape.once(2)) return { contains };
  const minContains = tape.below(3);
  return { contains, minContains, maxContains: minContains + tape.below(2) };
}

const object: Draw = (tape, depth) => ({
  ...(tape.once(4) ? {} : { type: "object" }),
  properties: Object.fromEntries(tape.some(names).map((name) => [name, drawPart(tape, depth - 1)])),
  ...maybe(tape, "required", () => [...tape.some(names)]),
  ...(tape.once(3) ? { additionalProperties: tape.once(2) ? drawPart(tape, depth - 1) : false } : {}),
  ...(tape.once(6) ? { patternProperties: drawPatterned(tape, depth) } : {}),
  ...(tape.once(6) ? { propertyNames: tape.once(2) ? listed(tape, 0) : text(tape, 0) } : {}),
  ...(tape.once(6) ? { dependentRequired: { [tape.pick(names)]: [...tape.some(names)] } } : {}),
  ...(tape.once(6) ? { dependentSchemas: { [tape.pick(names)]: drawPart(tape, depth - 1) } } : {}),
  ...(tape.once(6) ? { minProperties: tape.below(3) } : {}),
  ...(tape.once(6) ? { maxProperties: tape.below(4) } : {}),
});

function drawPatterned(tape: Tape, depth: number): JsonObject {
  const sources = [tape.pick(patterns), ...(tape.once(3) ? [tape.pick(patterns)] : [])];
  return Object.fromEntries(sources.map((source) => [source, drawPart(tape, depth - 1)]));
}

/** More members than ajv compares one by one, and more branches than are told apart from each other. */
const wide: Draw = (tape) => ({
  type: "object",
  properties: Object.fromEntries([...many, ...tape.some(names)].map((name) => [name, drawPart(tape, 0)])),
  ...(tape.once(2) ? { additionalProperties: false } : {}),
});
const manyBranches: Draw = (tape) => ({ [tape.pick(["oneOf", "anyOf"])]: many.map(() => drawPart(tape, 0)) });

const choice: Draw = (tape, depth) => {
  const branch = () => (tape.once(6) ? tape.pick([true, true, false]) : drawPart(tape, depth - 1));
  const [first, second] = [branch(), branch()];
  // Of exactly one it matters when a branch is there twice.
  const more = tape.once(5) ? [tape.pick([first, second])] : tape.list(1, branch);
  return { [tape.pick(["anyOf", "anyOf", "oneOf", "allOf"])]: [first, second, ...more] };
};
const negation: Draw = (tape, depth) => ({ not: drawPart(tape, depth - 1) });
const condition: Draw = (tape, depth) =>
  conditional(drawPart(tape, depth - 1), drawPart(tape, depth - 1), tape.once(2) ? drawPart(tape, depth - 1) : true);
/** Two kinds of demands in one schema. */
const both: Draw = (tape, depth) => {
  const [first, second] = [drawPart(tape, depth - 1), drawPart(tape, depth - 1)];
  return typeof first === "boolean" || typeof second === "boolean" ? first : { ...first, ...second };
};

const leaves: readonly Draw[] = [typed, anything, text, amount, listed, constant, someTypes, reference];
/** One time in so many. */
const rarely =
  (in_times: number, rare: Draw, common: Draw): Draw =>
  (tape, depth) =>
    (tape.once(in_times) ? rare : common)(tape, depth);
const structures: readonly Draw[] = [object, object, object, rarely(8, wide, object), array, array];
const combinations: readonly Draw[] = [
  choice,
  choice,
  rarely(8, manyBranches, choice),
  negation,
  condition,
  both,
  both,
];

export function conditional(test: Json, yes: Json, no: Json): JsonObject {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: test, then: yes, else: no };
}

export function drawValue(tape: Tape, depth: number): Json {
  switch (tape.below(depth > 0 ? 8 : 6)) {
    case 0:
    case 1:
      return tape.pick(strings);
    case 2:
    case 3:
      return tape.pick(numbers);
    case 4:
      return null;
    case 5:
      return tape.once(2);
    case 6:
      return [...tape.list(3, () => drawValue(tape, depth - 1))];
    default:
      return Object.fromEntries(tape.some(names).map((name) => [name, drawValue(tape, depth - 1)]));
  }
}

function maybe(tape: Tape, keyword: string, draw: () => Json): JsonObject {
  return tape.once(2) ? { [keyword]: draw() } : {};
}

function distinct(values: readonly Json[]): readonly Json[] {
  return [...new Map(values.map((value) => [canonicalText(value), value])).values()];
}

function canonicalText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText)}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return JSON.stringify(
    Object.entries(value)
      .map(([name, member]) => [name, canonicalText(member)])
      .sort(),
  );
}
