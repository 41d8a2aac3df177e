/**
 * A schema taken apart: a list of atoms that must all hold. `allOf` and `$ref` dissolve into it, annotations vanish, and
 * equal atoms have equal ids, so that "both sides demand the same" is a comparison of numbers.
 */

import type { LinearPattern } from "../linear-pattern.ts";
import type { ValueSet } from "../same-value.ts";

export type Kind = "null" | "boolean" | "number" | "string" | "array" | "object";

export const kinds: readonly Kind[] = ["null", "boolean", "number", "string", "array", "object"];

/** What a limit counts: the number itself, the characters of a string, items, members. */
export type Measure = "number" | "string" | "array" | "object";

export type Rule =
  | { readonly rule: "never" }
  | { readonly rule: "type"; readonly kinds: ReadonlySet<Kind> /** Of numbers: only whole ones. */; whole: boolean }
  /** `enum` and `const`. */
  | { readonly rule: "values"; readonly values: readonly unknown[]; readonly set: ValueSet }
  | {
      readonly rule: "limit";
      readonly of: Measure;
      readonly side: "least" | "most";
      readonly value: number;
      readonly exclusive: boolean;
    }
  | { readonly rule: "multiple"; readonly of: number }
  | { readonly rule: "pattern"; readonly pattern: LinearPattern }
  /** `prefixItems` and `items`. */
  | { readonly rule: "items"; readonly first: readonly Node[]; readonly rest: Node }
  | { readonly rule: "contains"; readonly schema: Node; readonly least: number; readonly most: number }
  | { readonly rule: "unique" }
  | Members
  | { readonly rule: "required"; readonly name: string }
  /** `propertyNames`. */
  | { readonly rule: "names"; readonly schema: Node }
  /** `dependentSchemas`, and `dependentRequired` with a schema that demands the names. */
  | { readonly rule: "dependent"; readonly name: string; readonly schema: Node }
  | { readonly rule: "any"; readonly branches: readonly Node[] }
  | { readonly rule: "one"; readonly branches: readonly Node[] }
  | { readonly rule: "not"; readonly schema: Node }
  | { readonly rule: "if"; readonly test: Node; readonly yes: Node; readonly no: Node };

/** `properties`, `patternProperties` and `additionalProperties`. */
export interface Members {
  readonly rule: "members";
  readonly named: ReadonlyMap<string, Node>;
  readonly patterned: readonly { readonly pattern: LinearPattern; readonly schema: Node }[];
  readonly others: Node;
}

export type Atom<Name extends Rule["rule"] = Rule["rule"]> = Extract<Rule, { rule: Name }> & {
  readonly id: number;
  /** Where it stands in its schema, as a JSON Pointer. */
  readonly path: string;
};

/** All of these hold; none: anything fits. */
export interface Node {
  readonly id: number;
  readonly atoms: readonly Atom[];
}

/** What this rule demands of the member of that name. */
export function demandsOn({ named, patterned, others }: Members, name: string): readonly Node[] {
  const own = named.get(name);
  const found = own === undefined ? [] : [own];
  for (const { pattern, schema } of patterned) if (pattern.test(name)) found.push(schema);
  return found.length === 0 ? [others] : found;
}

export function kindOf(value: unknown): Kind {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  switch (typeof value) {
    case "boolean":
    case "number":
    case "string":
      return typeof value as Kind;
    default:
      return "object";
  }
}
