/**
 * What can be seen of a schema at a glance: which properties it names, demands and lets in. Two glances tell which pairs are
 * worth comparing first; they judge nothing.
 */

import type { JsonSchema } from "./entry.ts";

export interface Shape {
  /** Null: more than one, or it does not say. */
  readonly type: string | null;
  /** Each with its type. */
  readonly named: ReadonlyMap<string, string | null>;
  readonly demanded: readonly string[];
  /** Nothing but what it names. */
  readonly is_closed: boolean;
}

/** More are not looked at. */
const most_names = 64;

export function shapeOf(schema: JsonSchema): Shape {
  const { properties, required, additionalProperties } = schema;
  const named = isObject(properties) ? Object.entries(properties).slice(0, most_names) : [];
  return {
    type: typeOf(schema),
    named: new Map(named.map(([name, each]) => [name, typeOf(each)])),
    demanded: Array.isArray(required) ? required.filter((name) => typeof name === "string").slice(0, most_names) : [],
    is_closed: additionalProperties === false && schema["patternProperties"] === undefined,
  };
}

/** The shape of a schema that this very value fits, and little else. */
export function shapeOfValue(value: unknown): Shape {
  const members = isObject(value) ? Object.entries(value).slice(0, most_names) : [];
  return {
    type: typeOfValue(value),
    named: new Map(members.map(([name, member]) => [name, typeOfValue(member)])),
    demanded: members.map(([name]) => name),
    is_closed: true,
  };
}

/** In how many ways values of the left shape seem not to fit the right one. */
export function misfits(left: Shape, right: Shape): number {
  let sum = areAlike(left.type, right.type) ? 0 : 1;
  for (const name of right.demanded) if (!left.demanded.includes(name)) sum += 1;
  for (const [name, type] of left.named) {
    const wanted = right.named.get(name);
    if (wanted === undefined ? right.is_closed : !areAlike(type, wanted)) sum += 1;
  }
  return sum;
}

/** Where one of them does not say, nothing speaks against it. */
function areAlike(type: string | null, wanted: string | null): boolean {
  return type === null || wanted === null || type === wanted || (type === "integer" && wanted === "number");
}

function typeOf(schema: unknown): string | null {
  return isObject(schema) && typeof schema["type"] === "string" ? schema["type"] : null;
}

function typeOfValue(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && Number.isInteger(value) ? "integer" : typeof value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
