/** From a JSON Schema that was inspected to a node. References and `allOf` are written out on the way. */

import { type Atom, type Kind, kinds, type Measure, type Node } from "./atom.ts";
import type { Workshop } from "./workshop.ts";

type Raw = Readonly<Record<string, unknown>>;

export function readSchema(schema: unknown, workshop: Workshop): Node {
  return new Reader(schema, workshop).read(schema, "");
}

/** ajv compares names with up to so many properties, and asks the schema's own object beyond. */
const ajv_names_compared = 8;

const limits: readonly (readonly [string, Measure, "least" | "most", boolean])[] = [
  ["minimum", "number", "least", false],
  ["exclusiveMinimum", "number", "least", true],
  ["maximum", "number", "most", false],
  ["exclusiveMaximum", "number", "most", true],
  ["minLength", "string", "least", false],
  ["maxLength", "string", "most", false],
  ["minItems", "array", "least", false],
  ["maxItems", "array", "most", false],
  ["minProperties", "object", "least", false],
  ["maxProperties", "object", "most", false],
];

class Reader {
  private readonly workshop: Workshop;
  private readonly definitions: Raw;
  private readonly known = new Map<string, Node>();

  constructor(root: unknown, workshop: Workshop) {
    this.workshop = workshop;
    this.definitions = isRaw(root) && isRaw(root["$defs"]) ? root["$defs"] : {};
  }

  read(schema: unknown, path: string): Node {
    const { workshop } = this;
    if (schema === false) return workshop.node([workshop.atom({ rule: "never" }, path)]);
    if (!isRaw(schema)) return workshop.anything;
    return workshop.node([
      ...this.values(schema, path),
      ...this.limits(schema, path),
      ...this.arrays(schema, path),
      ...this.objects(schema, path),
      ...this.choices(schema, path),
      ...this.parts(schema, path),
    ]);
  }

  /** What all of must hold anyway. */
  private parts(schema: Raw, path: string): readonly Atom[] {
    const atoms = this.list(schema["allOf"], `${path}/allOf`).flatMap((node) => node.atoms);
    const reference = schema["$ref"];
    return typeof reference === "string" ? [...this.definition(reference).atoms, ...atoms] : atoms;
  }

  private definition(reference: string): Node {
    const name = decodeURIComponent(reference.slice("#/$defs/".length)).replaceAll("~1", "/").replaceAll("~0", "~");
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const read = this.read(this.definitions[name], `/$defs/${escapePointer(name)}`);
    this.known.set(name, read);
    return read;
  }

  private values(schema: Raw, path: string): readonly Atom[] {
    const { workshop } = this;
    const atoms: Atom[] = [];
    if (schema["type"] !== undefined) atoms.push(this.type([schema["type"]].flat(), `${path}/type`));
    if (Array.isArray(schema["enum"])) atoms.push(workshop.values(schema["enum"], `${path}/enum`));
    if (schema["const"] !== undefined) atoms.push(workshop.values([schema["const"]], `${path}/const`));
    return atoms;
  }

  private type(names: readonly unknown[], path: string): Atom {
    const whole = names.includes("integer") && !names.includes("number");
    const named = kinds.filter((kind) => names.includes(kind) || (kind === "number" && whole));
    return this.workshop.atom({ rule: "type", kinds: new Set<Kind>(named), whole }, path);
  }

  private limits(schema: Raw, path: string): readonly Atom[] {
    const { workshop } = this;
    const atoms: Atom[] = [];
    for (const [keyword, of, side, exclusive] of limits) {
      const value = schema[keyword];
      if (typeof value !== "number") continue;
      atoms.push(workshop.atom({ rule: "limit", of, side, value, exclusive }, `${path}/${keyword}`));
    }
    const { multipleOf, pattern } = schema;
    if (typeof multipleOf === "number") {
      atoms.push(workshop.atom({ rule: "multiple", of: multipleOf }, `${path}/multipleOf`));
    }
    if (typeof pattern === "string") {
      atoms.push(workshop.atom({ rule: "pattern", pattern: workshop.pattern(pattern) }, `${path}/pattern`));
    }
    return atoms;
  }

  private arrays(schema: Raw, path: string): readonly Atom[] {
    const { workshop } = this;
    const { prefixItems, items, contains, minContains = 1, maxContains, uniqueItems } = schema;
    const atoms: Atom[] = [];
    if (prefixItems !== undefined || items !== undefined) {
      const first = this.list(prefixItems, `${path}/prefixItems`);
      const rest = this.optional(items, `${path}/items`);
      atoms.push(workshop.atom({ rule: "items", first, rest }, path));
    }
    if (contains !== undefined) {
      const inner = this.read(contains, `${path}/contains`);
      const most = maxContains === undefined ? Number.POSITIVE_INFINITY : Number(maxContains);
      const rule = { rule: "contains", schema: inner, least: Number(minContains), most } as const;
      atoms.push(workshop.atom(rule, `${path}/contains`));
    }
    if (uniqueItems === true) atoms.push(workshop.atom({ rule: "unique" }, `${path}/uniqueItems`));
    return atoms;
  }

  private objects(schema: Raw, path: string): readonly Atom[] {
    const { workshop } = this;
    const { required, propertyNames, dependentRequired, dependentSchemas } = schema;
    const atoms = this.members(schema, path);
    for (const name of stringsOf(required)) {
      atoms.push(workshop.atom({ rule: "required", name }, `${path}/required`));
    }
    if (propertyNames !== undefined) {
      const inner = this.read(propertyNames, `${path}/propertyNames`);
      atoms.push(workshop.atom({ rule: "names", schema: inner }, `${path}/propertyNames`));
    }
    for (const [name, names] of entriesOf(dependentRequired)) {
      const at = `${path}/dependentRequired/${escapePointer(name)}`;
      const demanded = stringsOf(names).map((each) => workshop.atom({ rule: "required", name: each }, at));
      atoms.push(workshop.atom({ rule: "dependent", name, schema: workshop.node(demanded) }, at));
    }
    for (const [name, inner] of entriesOf(dependentSchemas)) {
      const at = `${path}/dependentSchemas/${escapePointer(name)}`;
      atoms.push(workshop.atom({ rule: "dependent", name, schema: this.read(inner, at) }, at));
    }
    return atoms;
  }

  private members(schema: Raw, path: string): Atom[] {
    const { properties, patternProperties, additionalProperties } = schema;
    if (properties === undefined && patternProperties === undefined && additionalProperties === undefined) return [];
    const entries = entriesOf(properties);
    const named = new Map<string, Node>();
    for (const [name, inner] of entries) {
      if (name !== "__proto__") named.set(name, this.read(inner, `${path}/properties/${escapePointer(name)}`));
    }
    // As ajv has it: no property of this name is looked at, and only the long way round is it known at all.
    if (entries.length > named.size && named.size > ajv_names_compared) named.set("__proto__", this.workshop.anything);
    const patterned = entriesOf(patternProperties)
      .filter(([source]) => source !== "__proto__")
      .map(([source, inner]) => ({
        pattern: this.workshop.pattern(source),
        schema: this.read(inner, `${path}/patternProperties/${escapePointer(source)}`),
      }));
    const others = this.optional(additionalProperties, `${path}/additionalProperties`);
    return [this.workshop.atom({ rule: "members", named, patterned, others }, path)];
  }

  private choices(schema: Raw, path: string): readonly Atom[] {
    const { workshop } = this;
    const atoms: Atom[] = [];
    for (const [keyword, rule] of [["anyOf", "any"] as const, ["oneOf", "one"] as const]) {
      const branches = this.list(schema[keyword], `${path}/${keyword}`);
      if (branches.length > 0) atoms.push(workshop.atom({ rule, branches }, `${path}/${keyword}`));
    }
    if (schema["not"] !== undefined) {
      atoms.push(workshop.atom({ rule: "not", schema: this.read(schema["not"], `${path}/not`) }, `${path}/not`));
    }
    if (schema["if"] !== undefined) {
      const test = this.read(schema["if"], `${path}/if`);
      const yes = this.optional(schema["then"], `${path}/then`);
      const no = this.optional(schema["else"], `${path}/else`);
      atoms.push(workshop.atom({ rule: "if", test, yes, no }, `${path}/if`));
    }
    return atoms;
  }

  private optional(schema: unknown, path: string): Node {
    return schema === undefined ? this.workshop.anything : this.read(schema, path);
  }

  private list(schemas: unknown, path: string): readonly Node[] {
    return Array.isArray(schemas) ? schemas.map((schema, index) => this.read(schema, `${path}/${index}`)) : [];
  }
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return isRaw(value) ? Object.entries(value) : [];
}

function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function isRaw(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
