/**
 * The JSON Schema keywords that a stranger may use, and what their values must be. An allow-list: what is missing here
 * either reaches outside the schema ($id, remote $ref), runs in a time nobody can bound ($dynamicRef, recursion), or
 * is not of 2020-12.
 */

export type KeywordKind =
  /** One schema. */
  | "schema"
  | "schema_list"
  | "schema_map"
  /** A map whose names are patterns. */
  | "pattern_map"
  | "definitions"
  | "reference"
  | "dialect"
  | "types"
  | "values"
  | "value"
  | "number"
  | "positive_number"
  | "count"
  | "flag"
  | "names"
  | "names_map"
  | "pattern"
  /** Says something to people; nothing is checked. */
  | "annotation";

export const keywords: ReadonlyMap<string, KeywordKind> = new Map<string, KeywordKind>([
  ["$schema", "dialect"],
  ["$ref", "reference"],
  ["$defs", "definitions"],
  ["$comment", "annotation"],
  ["type", "types"],
  ["enum", "values"],
  ["const", "value"],
  ["allOf", "schema_list"],
  ["anyOf", "schema_list"],
  ["oneOf", "schema_list"],
  ["not", "schema"],
  ["if", "schema"],
  ["then", "schema"],
  ["else", "schema"],
  ["properties", "schema_map"],
  ["patternProperties", "pattern_map"],
  ["additionalProperties", "schema"],
  ["propertyNames", "schema"],
  ["dependentSchemas", "schema_map"],
  ["dependentRequired", "names_map"],
  ["required", "names"],
  ["minProperties", "count"],
  ["maxProperties", "count"],
  ["prefixItems", "schema_list"],
  ["items", "schema"],
  ["contains", "schema"],
  ["minContains", "count"],
  ["maxContains", "count"],
  ["minItems", "count"],
  ["maxItems", "count"],
  ["uniqueItems", "flag"],
  ["minLength", "count"],
  ["maxLength", "count"],
  ["pattern", "pattern"],
  ["minimum", "number"],
  ["maximum", "number"],
  ["exclusiveMinimum", "number"],
  ["exclusiveMaximum", "number"],
  ["multipleOf", "positive_number"],
  ["title", "annotation"],
  ["description", "annotation"],
  ["default", "annotation"],
  ["examples", "annotation"],
  ["deprecated", "annotation"],
  ["readOnly", "annotation"],
  ["writeOnly", "annotation"],
  ["format", "annotation"],
  ["contentEncoding", "annotation"],
  ["contentMediaType", "annotation"],
  ["contentSchema", "annotation"],
]);

export const dialect = "https://json-schema.org/draft/2020-12/schema";

export const types: ReadonlySet<unknown> = new Set([
  "null",
  "boolean",
  "object",
  "array",
  "number",
  "integer",
  "string",
]);

/** For keywords that people bring from elsewhere: what to write in their place. */
export const insteadOf: ReadonlyMap<string, string> = new Map([
  ["definitions", "$defs"],
  ["dependencies", "dependentRequired or dependentSchemas"],
  ["additionalItems", "items beside prefixItems"],
  ["nullable", 'type: [..., "null"]'],
  ["id", "no id: refer by #/$defs/name"],
  ["$id", "no id: refer by #/$defs/name"],
  ["$anchor", "#/$defs/name"],
  ["$dynamicRef", "#/$defs/name without recursion"],
  ["$dynamicAnchor", "#/$defs/name"],
  ["unevaluatedProperties", "additionalProperties"],
  ["unevaluatedItems", "items beside prefixItems"],
  ["example", "examples"],
]);
