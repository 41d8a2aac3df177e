/**
 * Pairs of schema and payload, each within its size, that once held the relay up for seconds. Seconds are not measured
 * here, since other work on the machine would decide: what is checked is that the meter stops them, and that its
 * steps stand for the work. Measured on 2 shared cores, a check that uses the meter up takes 220 ms at worst.
 */

import { describe, expect, it } from "vitest";
import { limits } from "../limits.ts";
import { Meter } from "./meter.ts";
import { Schemas } from "./schemas.ts";

const too_large = "the whole value: is too large to be checked against this schema";

function check(schema: unknown, value: unknown): { fault: string | null; spent: number } {
  const meter = new Meter(limits.schema_check_steps);
  const fault = new Schemas().compile(schema).checkParsed({ ok: true, value }, "input_unfit", meter);
  return { fault: fault?.message ?? null, spent: meter.spent };
}

const repeat = <Value>(count: number, value: Value): Value[] => Array<Value>(count).fill(value);
const members = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, value]));
/** The leaf 1,600 times, by references. */
const squared = (leaf: unknown) => ({
  $defs: { leaf, row: { allOf: repeat(40, { $ref: "#/$defs/leaf" }) } },
  allOf: repeat(40, { $ref: "#/$defs/row" }),
});
const nested = (value: number, levels = 5): unknown => (levels === 0 ? value : { a: nested(value, levels - 1) });
const megabyte = "x".repeat(999_990);

describe("the meter stops", () => {
  it.each<[string, unknown, unknown]>([
    ["lengths of a long string, counted 1,600 times", squared({ maxLength: 500_000 }), "\u{1f600}".repeat(499_000)],
    ["uniqueItems over one item of a megabyte", squared({ uniqueItems: true }), [megabyte]],
    ["uniqueItems over many objects", squared({ uniqueItems: true }), repeat(1, repeat(100_000, { a: 1 }))],
    [
      "items that equal the last of many objects",
      { items: { allOf: repeat(9, { enum: [nested(1), nested(2)] }) } },
      repeat(14_000, nested(2)),
    ],
    [
      "branches that all but one fail",
      { items: { anyOf: [...repeat(60, { type: "string" }), {}] } },
      repeat(400_000, 1),
    ],
    [
      "contains that is met at the end only",
      { allOf: repeat(60, { contains: { const: 2 }, minContains: 2 }) },
      [...repeat(400_000, 1), 2, 2],
    ],
    ["members counted again and again", squared({ minProperties: 1 }), members(90_000, 1)],
    [
      "members walked over again and again",
      { allOf: repeat(60, { additionalProperties: { type: "integer" } }) },
      members(90_000, 1),
    ],
    ["names looked up in many objects", { items: { properties: members(490, true) } }, repeat(300_000, {})],
    [
      "names demanded of many objects",
      { allOf: repeat(60, { items: { required: ["p0", "p1", "p2"] } }) },
      repeat(60_000, members(3, 1)),
    ],
    [
      "a short pattern on many short strings",
      { items: { allOf: repeat(30, { pattern: "^a*$" }) } },
      repeat(240_000, "a"),
    ],
    [
      "patterns for the names of many members",
      { patternProperties: Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`^a${n}`, {}])) },
      members(90_000, 1),
    ],
    ["a word boundary, which no automaton takes", { pattern: "^.*\\b.$" }, megabyte],
  ])("%s", (_, schema, value) => {
    expect(check(schema, value).fault).toBe(too_large);
  });
});

describe("what was costly and is cheap now", () => {
  it("a length far from its limit is told without a count", () => {
    const { fault, spent } = check(squared({ minLength: 1, maxLength: 5_000_000 }), megabyte);
    expect(fault).toBeNull();
    expect(spent).toBeLessThan(limits.schema_check_steps / 100);
  });

  it("a value is looked up among 499 objects, not compared with each", () => {
    const schema = { items: { enum: Array.from({ length: 499 }, (_, n) => nested(n)) } };
    expect(check(schema, repeat(8_000, nested(498))).fault).toBeNull();
  });

  it.each([
    [{ maxLength: 2 }, "\u{1f600}\u{1f600}", null],
    [{ maxLength: 2 }, "\u{1f600}\u{1f600}\u{1f600}", "must NOT have more than 2 characters"],
    [{ maxLength: 2 }, "abc", "must NOT have more than 2 characters"],
    [{ minLength: 3 }, "\u{1f600}\u{1f600}a", null],
    [{ minLength: 3 }, "\u{1f600}\u{1f600}", "must NOT have fewer than 3 characters"],
    [{ minLength: 0, maxLength: 0 }, "", null],
    [{ enum: ["1", null] }, 1, 'must be equal to one of the allowed values: ["1",null]'],
    [{ enum: [{ a: 1, b: [2] }] }, { b: [2], a: 1 }, null],
    [{ const: { a: 1 } }, '{"a":1}', 'must be equal to constant: {"a":1}'],
    [{ uniqueItems: true }, ['{"a":1}', { a: 1 }, 1, "1", [1]], null],
    [{ uniqueItems: true }, [[1], [1]], "must not have the same item twice"],
    [{ uniqueItems: false }, [1, 1], null],
    [{ prefixItems: [{ type: "null" }], contains: { const: 1 } }, [], "must contain at least 1 valid item(s)"],
    [{ prefixItems: [true, true, { type: "null" }], uniqueItems: true }, [1, 1], "must not have the same item twice"],
    [{ prefixItems: [{ type: "null" }], items: false, contains: { type: "null" } }, [null], null],
    [{ contains: { const: 1 } }, [], "must contain at least 1 valid item(s)"],
    [{ contains: { const: 1 }, minContains: 0, maxContains: 1 }, [], null],
    [{ contains: { const: 1 } }, [2, 1], null],
    [{ multipleOf: 3 }, 9, null],
    [{ multipleOf: 3 }, -0, null],
    [{ multipleOf: 3 }, 10, "must be multiple of 3"],
    [{ multipleOf: 3 }, 5e-324, "must be multiple of 3"],
    [{ multipleOf: 0.5 }, 2.5, null],
    [{ multipleOf: 0.5 }, 2.25, "must be multiple of 0.5"],
    [{ multipleOf: 0.000001 }, 9007199254740991, null],
    [{ multipleOf: 0.01 }, 4.35, null],
    [{ multipleOf: 0.01 }, -19.99, null],
    [{ multipleOf: 0.1 }, 0.3, null],
    [{ multipleOf: 0.1 }, 0.30000000000000004, "must be multiple of 0.1"],
    [{ multipleOf: 0.01 }, 4.355, "must be multiple of 0.01"],
    [{ multipleOf: 1e-7 }, 0.0000123, null],
    [{ multipleOf: 0.3 }, 9007199254740991, "must be multiple of 0.3"],
    [{ multipleOf: 1.5 }, 9007199254740991, "must be multiple of 1.5"],
    [{ multipleOf: 0.5 }, 5e-324, "must be multiple of 0.5"],
    [{ multipleOf: 5e-324 }, 9007199254740991, null],
    [{ multipleOf: 3 }, "10", null],
  ])("%j on %j keeps the meaning of the standard", (schema, value, message) => {
    expect(check(schema, value).fault).toBe(message === null ? null : `the whole value: ${message}`);
  });
});

it("an array is not taken for the one before it", () => {
  const schema = { items: { contains: { const: 1 } } };
  expect(check(schema, [[1], []]).fault).toBe("/1: must contain at least 1 valid item(s)");
  expect(check(schema, [[1], [2, 1]]).fault).toBeNull();
});

describe("ordinary schemas take a megabyte", () => {
  const text = { type: "string", minLength: 1, maxLength: 100 };
  it.each<[string, unknown, unknown]>([
    [
      "objects of 50 properties",
      { items: { type: "object", properties: members(50, text), required: ["p1"], additionalProperties: false } },
      repeat(1_100, members(50, "abcdefghij")),
    ],
    [
      "one object of 480 properties with long texts",
      { type: "object", properties: members(480, { type: "string", maxLength: 3_000 }) },
      members(480, "x".repeat(2_000)),
    ],
    ["rows of numbers", { items: { type: "array", items: { type: "number" } } }, repeat(2_000, repeat(240, 1))],
    [
      "rows of 8 kinds",
      {
        items: {
          oneOf: Array.from({ length: 8 }, (_, n) => ({ properties: { kind: { const: n } }, required: ["kind"] })),
        },
      },
      Array.from({ length: 20_000 }, (_, n) => ({ kind: n % 8, text: "y".repeat(30) })),
    ],
    ["base64 with a pattern", { pattern: "^[A-Za-z0-9+/]*={0,2}$" }, megabyte],
    [
      "UUIDs with a pattern",
      { items: { pattern: "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" } },
      repeat(25_000, "01234567-89ab-cdef-0123-456789abcdef"),
    ],
  ])("%s", (_, schema, value) => {
    expect(JSON.stringify(value).length).toBeGreaterThan(900_000);
    expect(check(schema, value).fault).toBeNull();
  });
});

describe("schemas that come with one call", () => {
  it("a batch of them, each large, is refused before anything is compiled", () => {
    const schemas = new Schemas();
    const large = { properties: members(limits.call_schema_nodes, true) };
    expect(() => schemas.admit(large, "/expects/output_schema")).toThrow(/more than 300 parts/);
    schemas.compile(large);
    schemas.admit({ properties: members(200, { type: "string" }) }, "/expects/output_schema");
  });
});

it("no schema makes its checker throw at a value: ajv kept account of members that nobody asks about, and stumbled", () => {
  const schema = {
    patternProperties: { "^b": true },
    anyOf: [{ properties: { a: true }, dependentRequired: { b: ["c"] } }, true],
  };
  const content = { media_type: "application/json", bytes: Buffer.from('{"b":1}') };
  expect(new Schemas().compile(schema).check(content, "input_unfit")).toBeNull();
});
