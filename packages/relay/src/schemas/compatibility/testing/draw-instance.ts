/** Draws values that often fit a schema, by a way of its own: it shares nothing with the search for counterexamples. */

import { type DrawnSchema, drawValue } from "./draw-schema.ts";
import type { Tape } from "./tape.ts";
import { isJsonObject, type Json, type JsonObject, names, numbers, strings } from "./vocabulary.ts";

const depth_most = 6;

export function drawInstance(tape: Tape, schema: DrawnSchema): Json {
  const definitions = isJsonObject(schema) ? schema["$defs"] : undefined;
  const value = instance(tape, schema, isJsonObject(definitions) ? definitions : {}, depth_most);
  return tape.once(4) ? changed(tape, value) : value;
}

function instance(tape: Tape, schema: Json | undefined, definitions: JsonObject, depth: number): Json {
  if (!isJsonObject(schema) || depth <= 0) return drawValue(tape, 1);
  const whole = gathered(tape, schema, definitions, depth);
  const { const: constant, enum: listed, type } = whole;
  if (constant !== undefined && !tape.once(8)) return constant;
  if (Array.isArray(listed) && !tape.once(8)) return tape.pick(listed);
  const kinds = type === undefined ? likelyTypes(whole) : [type].flat();
  switch (tape.pick(kinds)) {
    case "string":
      return drawString(tape, whole);
    case "integer":
      return Math.trunc(drawNumber(tape, whole));
    case "number":
      return drawNumber(tape, whole);
    case "null":
      return null;
    case "boolean":
      return tape.once(2);
    case "array":
      return drawArray(tape, whole, definitions, depth);
    default:
      return drawObject(tape, whole, definitions, depth);
  }
}

/** The schema with its references and one branch of each choice written into it. */
function gathered(tape: Tape, schema: JsonObject, definitions: JsonObject, depth: number): JsonObject {
  let whole = schema;
  const add = (part: Json | undefined) => {
    if (isJsonObject(part)) whole = merged(whole, gathered(tape, part, definitions, depth - 1));
  };
  if (depth <= 0) return whole;
  const { $ref, allOf, anyOf, oneOf } = schema;
  if (typeof $ref === "string") add(definitions[$ref.slice("#/$defs/".length)]);
  if (Array.isArray(allOf)) allOf.forEach(add);
  for (const branches of [anyOf, oneOf]) if (Array.isArray(branches)) add(tape.pick(branches));
  if (schema["if"] !== undefined && tape.once(2)) [schema["if"], schema["then"]].forEach(add);
  else add(schema["else"]);
  return whole;
}

function merged(one: JsonObject, other: JsonObject): JsonObject {
  const properties = { ...objectOf(one["properties"]), ...objectOf(other["properties"]) };
  const required = [...new Set([...listOf(one["required"]), ...listOf(other["required"])])];
  return { ...one, ...other, properties, required };
}

function likelyTypes(schema: JsonObject): readonly string[] {
  if (Object.keys(objectOf(schema["properties"])).length > 0 || listOf(schema["required"]).length > 0)
    return ["object", "object", "string"];
  if ("items" in schema || "prefixItems" in schema || "contains" in schema) return ["array", "array", "null"];
  if ("minimum" in schema || "maximum" in schema || "multipleOf" in schema) return ["number", "integer", "string"];
  return ["string", "number", "object", "null", "boolean", "array"];
}

function drawString(tape: Tape, { minLength, maxLength }: JsonObject): string {
  if (tape.once(2)) return tape.pick(strings);
  const length = tape.pick([...[minLength, maxLength].filter(isNumber), 1]);
  return tape.pick(["a", "b", "\u{1f600}"]).repeat(length);
}

function drawNumber(
  tape: Tape,
  { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonObject,
): number {
  const points = [minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf].filter(isNumber);
  const point = tape.pick([...points, ...points, tape.pick(numbers)]);
  const near = point + tape.pick([0, 0, 1, -1, 0.5, 3]);
  return typeof multipleOf === "number" && tape.once(2) ? Math.round(near / multipleOf) * multipleOf : near;
}

function drawArray(tape: Tape, schema: JsonObject, definitions: JsonObject, depth: number): Json {
  const { prefixItems, items, contains, minItems, maxItems } = schema;
  const length = Math.min(6, tape.pick([...[minItems, maxItems].filter(isNumber), 1, 2]));
  return Array.from({ length }, (_, index) => {
    const own = listOf(prefixItems)[index] ?? (contains !== undefined && tape.once(2) ? contains : items);
    return instance(tape, own, definitions, depth - 1);
  });
}

function drawObject(tape: Tape, schema: JsonObject, definitions: JsonObject, depth: number): Json {
  const properties = objectOf(schema["properties"]);
  const required = listOf(schema["required"]).map(String);
  const optional = tape.some([...Object.keys(properties), ...(tape.once(3) ? names : [])]);
  const patterned = Object.values(objectOf(schema["patternProperties"]))[0];
  const others = schema["additionalProperties"] ?? patterned;
  const chosen = [...new Set([...required, ...optional])];
  return Object.fromEntries(
    chosen.map((name) => [
      name,
      instance(tape, Object.hasOwn(properties, name) ? properties[name] : others, definitions, depth - 1),
    ]),
  );
}

function changed(tape: Tape, value: Json): Json {
  if (Array.isArray(value) && value.length > 0) {
    return tape.once(2) ? value.toSpliced(tape.below(value.length), 1) : [...value, tape.pick(value)];
  }
  if (!isJsonObject(value)) return tape.once(2) ? drawValue(tape, 0) : value;
  const members = Object.entries(value);
  if (members.length > 0 && tape.once(2)) return Object.fromEntries(members.toSpliced(tape.below(members.length), 1));
  return Object.fromEntries([...members, [tape.pick(names), drawValue(tape, 0)]]);
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function isNumber(value: Json | undefined): value is number {
  return typeof value === "number";
}
