import { describe, expect, it } from "vitest";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { Schemas } from "./schemas.ts";

const json = (value: unknown) => ({ media_type: "application/json", bytes: Buffer.from(JSON.stringify(value)) });

function faultOf(schema: unknown, value: unknown): string | null {
  return new Schemas().compile(schema).check(json(value), "input_unfit")?.message ?? null;
}

function refusalOf(schema: unknown): Problem {
  try {
    new Schemas().compile(schema, "/input_schema");
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("The schema was not refused.");
}

describe("schemas from strangers: checking", () => {
  const query = {
    type: "object",
    properties: { query: { type: "string", minLength: 1 }, depth: { type: "integer", maximum: 5 } },
    required: ["query"],
    additionalProperties: false,
  };

  it.each([
    [{ query: "fsync", depth: 3 }, null],
    [{}, "the whole value: must have required property 'query'"],
    [{ query: "fsync", depth: 9 }, "/depth: must be <= 5"],
    [{ query: "x", more: 1 }, 'the whole value: must NOT have additional properties: "more" is not known'],
    ["text", "the whole value: must be object"],
  ])("tells the first fault of %j by its path", (value, message) => {
    expect(faultOf(query, value)).toBe(message);
  });

  // biome-ignore-start lint/suspicious/noThenProperty: a keyword of JSON Schema
  it.each([
    [{ properties: { a: { if: { type: "string" } } } }],
    [{ then: false, else: false }],
    [{ items: { contains: { const: 1 }, minContains: 0 } }],
    [{ minContains: 5, maxContains: 1 }],
  ])("takes keywords that say nothing for want of another: %j", (schema) => {
    expect([faultOf(schema, { a: "text" }), faultOf(schema, [[], [2]])]).toEqual([null, null]);
  });
  // biome-ignore-end lint/suspicious/noThenProperty: a keyword of JSON Schema

  it("takes every keyword of the allow-list that checks something", () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $defs: { word: { type: "string", pattern: "^[a-z]+$", format: "whatever" } },
      type: "object",
      properties: {
        words: { type: "array", items: { $ref: "#/$defs/word" }, uniqueItems: true, maxItems: 3 },
        pair: { prefixItems: [{ type: "number" }, { const: 2 }], items: false },
        kind: { enum: ["a", { b: 1 }] },
      },
      patternProperties: { "^x-": { type: ["string", "null"] } },
      propertyNames: { maxLength: 10 },
      dependentRequired: { pair: ["kind"] },
      dependentSchemas: { words: { required: ["kind"] } },
      if: { required: ["words"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { words: { minItems: 1 } } },
      oneOf: [{ required: ["words"] }, { required: ["pair"] }],
    };
    expect(faultOf({ properties: { ab: {} }, patternProperties: { "^a": { type: "integer" } } }, { ab: 1 })).toBeNull();
    expect(faultOf(schema, { words: ["a", "b"], kind: "a" })).toBeNull();
    expect(faultOf(schema, { pair: [1, 2], kind: { b: 1 }, "x-a": null })).toBeNull();
    expect(faultOf(schema, { words: ["a", "B"], kind: "a" })).toMatch(/^\/words\/1: must match pattern/);
    expect(faultOf(schema, { words: ["a", "a"], kind: "a" })).toBe("/words: must not have the same item twice");
    expect(faultOf(schema, { pair: [1, 3], kind: "a" })).toBe("/pair/1: must be equal to constant: 2");
    expect(faultOf(schema, { pair: [1], kind: "c" })).toBe(
      '/kind: must be equal to one of the allowed values: ["a",{"b":1}]',
    );
    expect(faultOf(schema, { kind: "a" })).toBe("the whole value: must match exactly one schema in oneOf");
  });

  it("keeps two patterns of one schema apart", () => {
    const schema = { properties: { a: { pattern: "^a$" }, b: { pattern: "^b$" } } };
    expect(faultOf(schema, { a: "a", b: "b" })).toBeNull();
    expect(faultOf(schema, { a: "b" })).toMatch(/^\/a/);
    expect(faultOf(schema, { b: "a" })).toMatch(/^\/b/);
  });

  it("takes boolean schemas", () => {
    expect(faultOf(true, 1)).toBeNull();
    expect(faultOf(false, 1)).toBe("the whole value: boolean schema is false");
  });

  it("does not take inherited members for members", () => {
    expect(faultOf({ required: ["constructor"] }, {})).toMatch(/required property 'constructor'/);
    expect(faultOf({ properties: { toString: { type: "string" } } }, {})).toBeNull();
  });

  it("takes the empty name for a name", () => {
    const name = "the whole value: must have required property ''";
    expect(faultOf({ required: [""] }, {})).toBe(name);
    expect(faultOf({ required: ["a", ""] }, { a: 1 })).toBe(name);
    expect(faultOf({ required: [""] }, { "": 1 })).toBeNull();
    expect(faultOf({ not: { required: [""] } }, {})).toBeNull();
    const either = { dependentRequired: { a: ["b"], b: ["", "a"] } };
    expect(faultOf(either, { b: 1, a: 1 })).toBe("the whole value: must have property '' when property b is present");
    expect(faultOf(either, { a: 1 })).toMatch(/must have property b when property a is present/);
    for (const value of [{}, { a: 1, b: 1, "": 1 }]) expect(faultOf(either, value)).toBeNull();
  });

  it("refuses what is not JSON where a schema is to be met", () => {
    const schema = new Schemas().compile({ type: "string" });
    const text = { media_type: "text/plain", bytes: Buffer.from("hello") };
    expect(schema.check(text, "output_unfit")).toEqual({
      reason: "output_unfit",
      message: "the whole value: must be JSON, not text/plain",
    });
    const twice = { media_type: "application/ld+json; charset=utf-8", bytes: Buffer.from('{"a":1,"a":2}') };
    expect(schema.check(twice, "input_unfit")?.message).toMatch(/not strict JSON: duplicate key at \/a/);
  });

  it("never quotes the value in a fault", () => {
    const schema = { properties: { a: { type: "integer" }, b: { enum: [1] }, c: { pattern: "^x$" } } };
    for (const name of ["a", "b", "c"]) expect(faultOf(schema, { [name]: "secret" })).not.toMatch(/secret/);
  });

  it("compiles equal schemas once, however their members are ordered", () => {
    const schemas = new Schemas();
    const first = schemas.compile({ type: "object", required: ["a"] });
    expect(schemas.compile({ required: ["a"], type: "object" })).toBe(first);
  });

  it("forgets the schema longest unused when its cache is full", () => {
    const schemas = new Schemas({ ...limits, schemas_compiled: 2 });
    const first = schemas.compile({ const: 1 });
    schemas.compile({ const: 2 });
    expect(schemas.compile({ const: 1 })).toBe(first);
    schemas.compile({ const: 3 });
    expect(schemas.compile({ const: 1 })).toBe(first);
  });
});

describe("schemas from strangers: attacks", () => {
  function doubling(levels: number) {
    const $defs: Record<string, unknown> = { d0: { type: "string" } };
    for (let n = 1; n <= levels; n++)
      $defs[`d${n}`] = { allOf: [{ $ref: `#/$defs/d${n - 1}` }, { $ref: `#/$defs/d${n - 1}` }] };
    return { $defs, $ref: `#/$defs/d${levels}` };
  }
  const nested = (levels: number): unknown => (levels === 0 ? {} : { items: nested(levels - 1) });
  const many = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, value]));

  it.each<[string, unknown, string, RegExp]>([
    ["remote $ref", { $ref: "https://evil.example/schema.json" }, "$ref", /nothing outside the schema is fetched/],
    ["$ref to a file", { $ref: "file:///etc/passwd" }, "$ref", /nothing outside/],
    ["$ref to nothing", { $ref: "#/$defs/none" }, "$ref", /is not there/],
    ["$ref to the prototype", { $defs: {}, $ref: "#/$defs/constructor" }, "$ref", /is not there/],
    ["self $ref", { $ref: "#" }, "$ref", /must be #\/\$defs\/name/],
    ["a circle", { $defs: { a: { $ref: "#/$defs/b" }, b: { items: { $ref: "#/$defs/a" } } } }, "$ref", /circle/],
    ["$id that moves references", { $id: "https://evil.example/" }, "$id", /is not allowed/],
    ["$dynamicRef", { $dynamicRef: "#x" }, "$dynamicRef", /is not allowed/],
    ["an unknown keyword", { typo: 1 }, "typo", /is not a keyword this relay checks/],
    ["another dialect", { $schema: "http://json-schema.org/draft-07/schema#" }, "$schema", /2020-12/],
    ["$data", { maximum: { $data: "1/limit" } }, "maximum", /must be a number/],
    ["a pattern with backreferences", { pattern: "(a)\\1" }, "pattern", /RE2/],
    ["a pattern with lookahead", { pattern: "^(?=a)b" }, "pattern", /RE2/],
    ["a pattern that explodes when compiled", { pattern: "(([a-z]{30}){30})" }, "pattern", /too large|RE2/],
    ["a long pattern", { pattern: "a".repeat(257) }, "pattern", /longer than 256/],
    ["many patterns", { properties: many(40, { pattern: "a" }) }, "pattern", /one pattern too many/],
    ["a bomb of references", doubling(20), "allOf", /once its references are written out/],
    ["wide allOf", { allOf: Array(65).fill(true) }, "allOf", /at most 64/],
    ["a huge enum", { enum: Array.from({ length: 501 }, (_, n) => n) }, "enum", /1 to 500/],
    ["too many properties", { properties: many(501, true) }, "properties", /at most 500/],
    ["type of nonsense", { type: "objekt" }, "type", /one of null, boolean/],
    ["items as a list", { items: [true] }, "items", /prefixItems/],
  ])("refuses %s and names the keyword", (_, schema, keyword, message) => {
    const problem = refusalOf(schema);
    expect(problem).toMatchObject({ code: 400, reason: "schema_refused", extra: { keyword } });
    expect(problem.message).toMatch(message);
    expect(problem.extra["path"]).toMatch(/^\/input_schema/);
  });

  /** References that lead to references: each level counts from its own start. */
  const stairs = (order: readonly number[]) => ({
    $defs: Object.fromEntries(
      order.map((n) => [`d${n}`, n === 0 ? {} : { anyOf: [{ anyOf: [{ anyOf: [{ $ref: `#/$defs/d${n - 1}` }] }] }] }]),
    ),
    $ref: "#/$defs/d180",
  });
  const steps = Array.from({ length: 181 }, (_, n) => n);

  it.each<[string, unknown, RegExp]>([
    ["too deep", nested(40), /nests more than 32/],
    ["too deep by references", stairs(steps), /nests more than 128 schemas once its references are written out/],
    [
      "too deep by references, the deepest first",
      { $defs: stairs(steps).$defs, items: true },
      /nests more than 128 schemas once its references are written out/,
    ],
    ["deeper than JSON may be", nested(5_000), /more than 64 levels/],
    ["too large", { description: "x".repeat(70_000) }, /larger than 64000 bytes/],
    ["too many parts", { properties: many(400, { items: { items: true } }) }, /more than 1000 parts/],
    ["no schema at all", "string", /must be a JSON Schema/],
    ["null", null, /must be a JSON Schema/],
  ])("refuses a schema that is %s", (_, schema, message) => {
    expect(refusalOf(schema).message).toMatch(message);
  });

  it("names the path of a keyword deep inside", () => {
    const problem = refusalOf({ properties: { "a/b": { items: { nullable: true } } } });
    expect(problem.extra).toEqual({ path: "/input_schema/properties/a~1b/items", keyword: "nullable" });
  });

  /** Not a measure of speed: what is not bounded takes minutes or never ends. */
  const hang_ms = 20_000;

  function milliseconds(work: () => void): number {
    const started = performance.now();
    work();
    return performance.now() - started;
  }

  it("is not held up by a pattern that backtracks (ReDoS)", () => {
    const took = milliseconds(() =>
      expect(faultOf({ pattern: "^(a+)+$" }, `${"a".repeat(50_000)}!`)).toMatch(/pattern/),
    );
    expect(took).toBeLessThan(hang_ms);
  });

  it("gives up on patterns whose work is too much, and says so", () => {
    const ab = Array.from({ length: 400_000 }, (_, n) => ((n * 7919) % 13 < 6 ? "a" : "b")).join("");
    const took = milliseconds(() =>
      expect(faultOf({ pattern: "(a|b)*a(a|b){100}[cd]" }, ab)).toMatch(/too large to be checked/),
    );
    expect(took).toBeLessThan(hang_ms);
  });

  it("gives up on a schema and a value whose product is too large", () => {
    const strange = Array.from({ length: 60 }, (_, n) => ({ const: `x${n}` }));
    const schema = { items: { anyOf: [...strange, { const: 1 }] } };
    const took = milliseconds(() => expect(faultOf(schema, Array(450_000).fill(1))).toMatch(/too large to be checked/));
    expect(took).toBeLessThan(hang_ms);
  });

  it("checks uniqueItems of 8,000 objects in linear time", () => {
    const items = Array.from({ length: 8_000 }, (_, n) => ({ n }));
    const took = milliseconds(() => expect(faultOf({ uniqueItems: true }, items)).toBeNull());
    expect(took).toBeLessThan(hang_ms);
    expect(
      faultOf({ uniqueItems: true }, [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
    ).toMatch(/same item twice/);
  });

  it("compiles the largest schema it takes without hanging", () => {
    const schema = { type: "object", properties: many(480, { type: "array", items: { type: "integer", minimum: 0 } }) };
    expect(milliseconds(() => new Schemas().compile(schema))).toBeLessThan(hang_ms);
    expect(milliseconds(() => new Schemas().compile(doubling(10)))).toBeLessThan(hang_ms);
  });
});
