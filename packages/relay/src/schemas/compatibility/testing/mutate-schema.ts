/** Changes a schema a little, so that the two of a pair are related: the edges between verdicts are there. */

import { type DrawnSchema, drawPart, drawValue } from "./draw-schema.ts";
import type { Tape } from "./tape.ts";
import { bounds, isJsonObject, type Json, type JsonObject, names, types } from "./vocabulary.ts";

const inner_keywords = [
  "items",
  "additionalProperties",
  "contains",
  "not",
  "if",
  "then",
  "else",
  "propertyNames",
] as const;
const list_keywords = ["anyOf", "oneOf", "allOf", "prefixItems"] as const;
const map_keywords = ["properties", "patternProperties", "dependentSchemas", "$defs"] as const;

export function mutateSchema(tape: Tape, schema: DrawnSchema): DrawnSchema {
  const mutated = mutate(tape, schema);
  if (!isJsonObject(mutated) || !JSON.stringify(mutated).includes("$ref")) return mutated;
  // A part that was drawn anew may refer to what the schema does not define.
  return "$defs" in mutated ? mutated : { ...mutated, $defs: { d0: true, d1: { type: "string" } } };
}

function mutate(tape: Tape, schema: DrawnSchema): DrawnSchema {
  if (!isJsonObject(schema)) return tape.once(2) ? drawPart(tape, 1) : schema;
  const places = inside(schema);
  if (places.length > 0 && tape.below(3) > 0) return tape.pick(places)((part) => mutate(tape, part));
  return tape.pick(changes)(tape, schema);
}

type Rebuild = (change: (part: DrawnSchema) => DrawnSchema) => JsonObject;

/** For each schema directly inside: the whole with that one changed. */
function inside(schema: JsonObject): readonly Rebuild[] {
  const found: Rebuild[] = [];
  for (const keyword of inner_keywords) {
    const part = schema[keyword];
    if (isSchema(part)) found.push((change) => ({ ...schema, [keyword]: change(part) }));
  }
  for (const keyword of list_keywords) {
    const list = schema[keyword];
    if (!Array.isArray(list)) continue;
    for (const [index, part] of list.entries()) {
      if (isSchema(part)) found.push((change) => ({ ...schema, [keyword]: list.with(index, change(part)) }));
    }
  }
  for (const keyword of map_keywords) {
    const map = schema[keyword];
    if (!isJsonObject(map)) continue;
    for (const [name, part] of Object.entries(map)) {
      if (keyword === "$defs" && JSON.stringify(part).includes("$ref")) continue;
      if (isSchema(part))
        found.push((change) => ({ ...schema, [keyword]: { ...map, [name]: safe(keyword, change(part)) } }));
    }
  }
  return found;
}

/** No circles: what is defined refers to nothing. */
function safe(keyword: string, part: DrawnSchema): DrawnSchema {
  return keyword === "$defs" && JSON.stringify(part).includes("$ref") ? true : part;
}

type Change = (tape: Tape, schema: JsonObject) => JsonObject;

const dropKeyword: Change = (tape, schema) => {
  const keywords = Object.keys(schema).filter((keyword) => keyword !== "$defs");
  if (keywords.length === 0) return schema;
  const dropped = tape.pick(keywords);
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== dropped));
};

const addKeywords: Change = (tape, schema) => {
  const more = drawPart(tape, 1);
  return typeof more === "boolean" ? schema : { ...more, ...schema };
};

const moveNumber: Change = (tape, schema) => {
  const keywords = Object.keys(schema).filter((keyword) => typeof schema[keyword] === "number" && keyword !== "const");
  if (keywords.length === 0) return { ...schema, minimum: tape.pick(bounds) };
  const keyword = tape.pick(keywords);
  const moved = Number(schema[keyword]) + tape.pick([1, -1]);
  const isCount = /^(min|max)[A-Z]/.test(keyword);
  if (isCount) return { ...schema, [keyword]: Math.max(0, moved) };
  return { ...schema, [keyword]: keyword === "multipleOf" ? Number(schema[keyword]) * tape.pick([2, 3]) : moved };
};

const changeType: Change = (tape, schema) => {
  const before = [schema["type"] ?? "string"].flat();
  if (before.includes("integer") && tape.once(2)) return { ...schema, type: "number" };
  return { ...schema, type: [...new Set([...before, tape.pick(types)])] };
};

const changeValues: Change = (tape, schema) => {
  const listed = schema["enum"];
  if (!Array.isArray(listed)) return { ...schema, enum: [drawValue(tape, 1)] };
  if (listed.length > 1 && tape.once(2)) return { ...schema, enum: listed.toSpliced(tape.below(listed.length), 1) };
  const more = drawValue(tape, 0);
  return listed.some((value) => JSON.stringify(value) === JSON.stringify(more))
    ? schema
    : { ...schema, enum: [...listed, more] };
};

const changeRequired: Change = (tape, schema) => {
  const name: string = tape.pick(names);
  const before = Array.isArray(schema["required"]) ? schema["required"].map(String) : [];
  const after = before.includes(name) ? before.filter((each) => each !== name) : [...before, name];
  return { ...schema, required: after };
};

const changeClosed: Change = (tape, schema) =>
  "additionalProperties" in schema
    ? { ...schema, additionalProperties: tape.pick([true, false]) }
    : { ...schema, additionalProperties: false };

const addMember: Change = (tape, schema) => {
  const before = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  return { ...schema, properties: { ...before, [tape.pick(names)]: drawPart(tape, 1) } };
};

const addBranch: Change = (tape, schema) => {
  const { $defs, ...rest } = schema;
  const branches = tape.once(2) ? [rest, drawPart(tape, 1)] : [drawPart(tape, 1), rest];
  return { ...($defs === undefined ? {} : { $defs }), [tape.pick(["anyOf", "oneOf", "allOf"])]: branches };
};

const changes: readonly Change[] = [
  dropKeyword,
  dropKeyword,
  addKeywords,
  moveNumber,
  moveNumber,
  changeType,
  changeValues,
  changeRequired,
  changeClosed,
  addMember,
  addBranch,
];

function isSchema(value: Json | undefined): value is DrawnSchema {
  return typeof value === "boolean" || isJsonObject(value);
}
