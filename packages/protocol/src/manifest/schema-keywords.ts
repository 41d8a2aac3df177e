// The words of JSON Schema, as far as they tell a schema in full from one in shorthand.

/** They only tell people something: a field may well have such a name. */
const annotations: ReadonlySet<string> = new Set([
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "format",
  "contentEncoding",
  "contentMediaType",
  "contentSchema",
  // Of OpenAPI and older drafts: known, so that whoever brings them is told what to write instead.
  "example",
  "nullable",
]);

const assertions: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$ref",
  "$defs",
  "$comment",
  "$anchor",
  "$dynamicRef",
  "$dynamicAnchor",
  "$recursiveRef",
  "$recursiveAnchor",
  "$vocabulary",
  "type",
  "enum",
  "const",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "properties",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "dependentSchemas",
  "dependentRequired",
  "dependencies",
  "definitions",
  "required",
  "minProperties",
  "maxProperties",
  "prefixItems",
  "items",
  "additionalItems",
  "unevaluatedItems",
  "contains",
  "minContains",
  "maxContains",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minLength",
  "maxLength",
  "pattern",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
]);

export function isKeyword(name: string): boolean {
  return assertions.has(name) || annotations.has(name);
}

/** A keyword that says something about the value: nobody who writes it means a field of that name. */
export function isAssertion(name: string): boolean {
  return assertions.has(name);
}

export const schemaKeywords: readonly string[] = [...assertions, ...annotations];
