import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { protocolLimits } from "../limits.ts";
import { compileSchema } from "./shorthand.ts";

const input = (schema: unknown) => {
  const read = compileSchema(schema, "input");
  if (!read.ok) throw new Error(`${read.fault.path} ${read.fault.message}`);
  return read.schema;
};
const faultOf = (schema: unknown) => {
  const read = compileSchema(schema, "input");
  return read.ok ? null : read.fault;
};
const closed = (properties: object, ...required: string[]) => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required }),
  additionalProperties: false,
});
const text = { type: "string" };

describe("shorthand", () => {
  it("reads the example of the specification, closed for inputs and open for outputs", () => {
    expect(input({ query: "string", depth: "int" })).toEqual(
      closed({ query: text, depth: { type: "integer" } }, "query", "depth"),
    );
    expect(compileSchema({ sources: "array", summary: "string" }, "output")).toEqual({
      ok: true,
      is_shorthand: true,
      schema: {
        type: "object",
        properties: { sources: { type: "array" }, summary: text },
        required: ["sources", "summary"],
      },
    });
  });

  test.each([
    ["string", text],
    ["int", { type: "integer" }],
    ["integer", { type: "integer" }],
    ["number", { type: "number" }],
    ["float", { type: "number" }],
    ["bool", { type: "boolean" }],
    ["boolean", { type: "boolean" }],
    ["object", { type: "object" }],
    ["array", { type: "array" }],
    ["null", { type: "null" }],
    ["any", {}],
    ["string[]", { type: "array", items: text }],
    ["int[][]", { type: "array", items: { type: "array", items: { type: "integer" } } }],
    [["string"], { type: "array", items: text }],
    [[{ a: "any" }], { type: "array", items: closed({ a: {} }, "a") }],
  ])("a member of type %j", (type, schema) => {
    expect(input({ it: type })).toEqual(closed({ it: schema }, "it"));
  });

  it("leaves out of `required` what has a ? at its type or at its name", () => {
    expect(input({ a: "int?", "b?": "string", "c?": { d: "string[]?" }, "e?": "int?" })).toEqual(
      closed({
        a: { type: "integer" },
        b: text,
        c: closed({ d: { type: "array", items: text } }),
        e: { type: "integer" },
      }),
    );
  });

  it("takes JSON Schema as the type of a member, as it is", () => {
    const range = { type: "integer", minimum: 1 };
    const schema = input({ depth: range, tags: [{ enum: ["a", "b"] }] });
    expect(schema).toEqual(
      closed({ depth: range, tags: { type: "array", items: { enum: ["a", "b"] } } }, "depth", "tags"),
    );
    expect((schema["properties"] as Record<string, unknown>)["depth"]).toBe(range);
  });

  it("closes nested objects of inputs, and leaves those of outputs open", () => {
    expect(input({ a: { b: "int" } })).toEqual(closed({ a: closed({ b: { type: "integer" } }, "b") }, "a"));
    const open = compileSchema({ a: { b: "int" } }, "output");
    expect(JSON.stringify(open)).not.toContain("additionalProperties");
  });

  it("makes a member of any name, also of those that objects are born with", () => {
    const schema = input(JSON.parse('{"__proto__":"string","constructor":"int"}'));
    expect(Object.keys(schema["properties"] as object)).toEqual(["__proto__", "constructor"]);
    expect(schema["required"]).toEqual(["__proto__", "constructor"]);
  });
});

/** The rule, case by case: the same cases as in spec/manifest.md. */
describe("an object that could be read both ways", () => {
  const asItIs: readonly object[] = [
    {},
    { type: "string" },
    { type: "string", description: "string" },
    { description: "What to look for." },
    { title: "string", description: "What it is." },
    { default: 5 },
    { examples: ["string", "int"] },
    { $ref: "#/$defs/a", $defs: { a: true } },
    { pattern: "string" },
    { items: "string" },
    { enum: ["string"] },
    { type: "object", properties: { type: { type: "string" } } },
    { type: "string", nullable: true },
    { definitions: { a: { type: "string" } } },
  ];
  it.each(asItIs)("%j is JSON Schema", (schema) => {
    expect(input(schema)).toBe(schema);
    expect(compileSchema(schema, "input")).toMatchObject({ is_shorthand: false });
  });

  it.each([
    [{ title: "string" }, { title: text }],
    [
      { description: "string", default: "int" },
      { description: text, default: { type: "integer" } },
    ],
    [
      { type: "string", query: "string" },
      { type: text, query: text },
    ],
    [{ id: "string" }, { id: text }],
    [{ examples: ["string"] }, { examples: { type: "array", items: text } }],
    [
      { format: "string", items: "string[]", x: "int" },
      { format: text, items: { type: "array", items: text }, x: { type: "integer" } },
    ],
    [
      { properties: { a: "string" }, name: "string" },
      { properties: closed({ a: text }, "a"), name: text },
    ],
  ])("%j is shorthand", (schema, properties) => {
    expect(input(schema)).toEqual(closed(properties, ...Object.keys(schema)));
  });

  it.each([
    [{ query: "strng" }, "/query", null, /"strng", which names no type; use string, int/],
    [{ query: "String" }, "/query", null, /write "string"/],
    [{ query: "dict" }, "/query", null, /write "object"/],
    [{ a: { b: { c: 5 } } }, "/a/b/c", null, /is 5, which is neither a type nor a schema/],
    [{ a: null }, "/a", null, /is null/],
    [{ a: [] }, "/a", null, /a list of 0/],
    [{ a: ["string", "int"] }, "/a", null, /a list of 2/],
    [{ a: ["string?"] }, "/a/0", null, /an item of a list cannot be/],
    [{ a: "string?[]" }, "/a", null, /names no type/],
    [{ "?": "string" }, "/?", null, /has no name/],
    [{ a: "string", "a?": "int" }, "/a?", null, /a second time/],
    [{ "a/b": { "c~d": 1 } }, "/a~1b/c~0d", null, /is 1/],
    [
      { type: "object", properties: { q: {} }, required: ["q"], discriminator: {} },
      "",
      "discriminator",
      /not a keyword of JSON Schema/,
    ],
    [{ oneOf: [{ a: 1 }, {}], other: "string" }, "", "other", /not a keyword/],
    ["string?", "", null, /only a member of an object/],
    [7, "", null, /neither a type nor a schema/],
  ])("%j is a fault at %j", (schema, path, keyword, message) => {
    expect(faultOf(schema)).toMatchObject({ path, keyword, message: expect.stringMatching(message) });
  });
});

describe("shorthand from strangers", () => {
  const nested = (levels: number): unknown => {
    let schema: unknown = "string";
    for (let level = 0; level < levels; level++) schema = { a: schema };
    return schema;
  };

  it("is read down to its limit, and refused below it", () => {
    expect(faultOf(nested(protocolLimits.shorthand_depth))).toBeNull();
    expect(faultOf(nested(protocolLimits.shorthand_depth + 1))?.message).toMatch(/levels deep/);
    expect(faultOf({ a: `string${"[]".repeat(10_000)}` })?.message).toMatch(/names no type/);
  });

  it("is refused where it has too many parts", () => {
    const wide = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, "string"]));
    expect(faultOf(wide(protocolLimits.shorthand_parts - 1))).toBeNull();
    expect(faultOf(wide(protocolLimits.shorthand_parts))?.message).toMatch(/split it/);
  });

  it("is not charged for what is JSON Schema within it", () => {
    const large = { default: Array.from({ length: 5_000 }, () => ({ a: "string" })) };
    expect(faultOf({ a: large, b: "string" })).toBeNull();
  });

  it("reads nothing anew that it has read: compiled is compiled", () => {
    const leaf = fc.constantFrom("string", "int?", "any[]", "object", "strng", "boolean");
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { depthSize: "small" },
        leaf,
        fc.dictionary(fc.constantFrom("a", "b?", "type", "title", "items", "default"), tie("schema"), { maxKeys: 3 }),
        fc.array(tie("schema"), { maxLength: 2 }),
        fc.constant({ type: "string" }),
      ),
    }));
    fc.assert(
      fc.property(schema, fc.constantFrom("input" as const, "output" as const), (value, side) => {
        const once = compileSchema(value, side);
        if (!once.ok) return;
        expect(compileSchema(once.schema, side)).toEqual({ ok: true, schema: once.schema, is_shorthand: false });
      }),
    );
  });
});
