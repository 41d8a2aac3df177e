/**
 * Whether an answer can fit what the question expects: its type, its choices, its required members. Nothing more, the
 * relay checks the rest; but what is plainly wrong is said at once, with what would be right.
 */

import { shorten } from "./payload-text.ts";

/** What is wrong; null: nothing that can be seen here. */
export function answerFault(value: unknown, schema: unknown): string | null {
  if (typeof schema !== "object" || schema === null) return null;
  const { type, enum: choices, const: only, required }: Partial<Record<string, unknown>> = { ...schema };
  if (only !== undefined && !same(value, only)) return `it must be ${JSON.stringify(only)}`;
  if (Array.isArray(choices) && !choices.some((choice) => same(value, choice))) {
    return `it must be one of ${shorten(choices.map((choice) => JSON.stringify(choice)).join(", "), 200)}`;
  }
  const types = (Array.isArray(type) ? type : [type]).filter((each) => typeof each === "string");
  if (types.length > 0 && !types.some((each) => isOfType(value, each))) {
    return `it must be of type ${types.join(" or ")}, and is of type ${typeName(value)}`;
  }
  const missing = Array.isArray(required) && isObject(value) ? required.filter((name) => !(String(name) in value)) : [];
  return missing.length === 0 ? null : `it lacks ${missing.join(", ")}`;
}

function same(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  return typeName(value) === type || !["null", "boolean", "number", "string", "array", "object"].includes(type);
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
