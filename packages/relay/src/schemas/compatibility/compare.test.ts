import { describe, expect, it } from "vitest";
import { limits } from "../../limits.ts";
import { Schemas } from "../schemas.ts";
import { compare, type Schema, type Verdict } from "./compare.ts";
import { conditional } from "./testing/draw-schema.ts";

const schemas = new Schemas();

function verdictOf(left: Schema, right: Schema): Verdict {
  return compare(left, right, { schemas, random: () => 0.5, limits });
}

const text = { type: "string" };
const whole = { type: "integer" };
const closed = (
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[] = Object.keys(properties),
) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const open = (
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[] = Object.keys(properties),
) => ({
  type: "object",
  properties,
  required,
});
const list = (items: Schema) => ({ type: "array", items });

type Pair = readonly [what: string, left: Schema, right: Schema];

const proven: readonly Pair[] = [
  // Everything and nothing
  ["anything is taken", undefined, undefined],
  ["whatever comes, true takes it", closed({ a: text }), true],
  ["nothing comes", false, closed({ a: text })],
  ["a contradiction brings nothing", { type: "string", minLength: 5, maxLength: 3 }, { type: "integer" }],
  ["types that have nothing in common", { allOf: [text, whole] }, false],
  ["exactly one of two that are the same", { oneOf: [true, true] }, false],
  ["exactly one, where the other two are the same", { oneOf: [true, true, text] }, whole],
  ["no branch is possible", { type: "string", anyOf: [whole, { type: "null" }] }, { const: 1 }],
  ["a required member that cannot be", open({ a: false }), false],
  ["an item that cannot be, and must", { type: "array", minItems: 1, items: false }, false],
  ["enumerations without a common value", { allOf: [{ enum: [1, 2] }, { enum: [3] }] }, false],
  ["whole numbers between 1 and 2", { type: "integer", exclusiveMinimum: 1, exclusiveMaximum: 2 }, false],
  ["not what it is", { allOf: [text, { not: text }] }, false],
  ["numbers that the relay does not take", { type: "number", minimum: 2 ** 53 }, false],
  ["a name that the relay does not take", { type: "object", required: ["__proto__"] }, false],
  ["fewer names than members", { ...closed({ a: text }, []), minProperties: 2 }, false],
  // Types
  ["integer is a number", whole, { type: "number" }],
  ["one type of several", text, { type: ["string", "null"] }],
  ["all types", true, { type: ["null", "boolean", "object", "array", "number", "string"] }],
  ["nullable as types and as branches", { type: ["string", "null"] }, { anyOf: [text, { type: "null" }] }],
  ["nullable as branches and as types", { anyOf: [text, { type: "null" }] }, { type: ["string", "null"] }],
  ["a multiple of a whole number is whole", { type: "number", multipleOf: 5 }, whole],
  // Values
  ["a smaller enumeration", { enum: ["a", "b"] }, { enum: ["c", "b", "a"] }],
  ["a constant of an enumeration", { const: "a" }, { enum: ["a", "b"] }],
  ["constants of a type", { enum: ["a", "bb"] }, { type: "string", minLength: 1, maxLength: 2 }],
  ["constants that match a pattern", { enum: ["ab", "ac"] }, { pattern: "^a" }],
  ["1.0 is an integer", { const: 1.0 }, whole],
  ["-0 is 0", { const: -0 }, { enum: [0], minimum: 0 }],
  ["a large number is whole", { const: 9_007_199_254_740_991 }, whole],
  ["booleans are two values", { type: "boolean" }, { enum: [true, false] }],
  ["few whole numbers are values", { type: "integer", minimum: 1, maximum: 3 }, { enum: [1, 2, 3, 4] }],
  ["what remains of an enumeration", { enum: ["a", 1, null], type: "string" }, { const: "a" }],
  ["an object constant, in another order", { const: { a: 1, b: [2] } }, { enum: [{ b: [2], a: 1 }] }],
  ["a constant object that fits", { const: { a: 1 } }, closed({ a: whole })],
  // Numbers
  ["narrower bounds", { type: "number", minimum: 1, maximum: 5 }, { minimum: 0, maximum: 10 }],
  ["exclusive within inclusive", { type: "number", exclusiveMinimum: 0 }, { minimum: 0 }],
  ["whole numbers above 0 are at least 1", { type: "integer", exclusiveMinimum: 0 }, { minimum: 1 }],
  ["at least 1 is above 0", { type: "integer", minimum: 1 }, { exclusiveMinimum: 0 }],
  ["multiples of 6 are multiples of 3", { type: "integer", multipleOf: 6 }, { multipleOf: 3 }],
  ["multiples of 4 and 6 are multiples of 12", { allOf: [{ multipleOf: 4 }, { multipleOf: 6 }] }, { multipleOf: 12 }],
  ["whole numbers are multiples of a half", whole, { multipleOf: 0.5 }],
  ["the same multiple of a fraction", { type: "number", multipleOf: 0.01, minimum: 0 }, { multipleOf: 0.01 }],
  ["no number is larger than 2^53", { type: "integer" }, { exclusiveMaximum: 2 ** 53 }],
  ["bounds do not matter to strings", text, { type: "string", minimum: 5 }],
  [
    "what a safe integer is called by others",
    whole,
    { type: "integer", minimum: -9_007_199_254_740_991, maximum: 9_007_199_254_740_991 },
  ],
  // Strings
  ["narrower lengths", { type: "string", minLength: 2, maxLength: 4 }, { minLength: 1, maxLength: 5 }],
  ["two characters of four units", { const: "\u{1f600}\u{1f600}" }, { minLength: 2, maxLength: 2 }],
  ["the same pattern", { type: "string", pattern: "^[a-z]+$", maxLength: 5 }, { pattern: "^[a-z]+$" }],
  ["formats only tell people something", text, { type: "string", format: "email" }],
  ["annotations", text, { type: "string", title: "Name", description: "…", default: 1, examples: [2] }],
  // Arrays
  ["items of a wider type", list(whole), list({ type: "number" })],
  ["narrower counts", { ...list(text), minItems: 2, maxItems: 3 }, { minItems: 1, maxItems: 3 }],
  ["no items, so no demand on them", { type: "array", maxItems: 0 }, list(false)],
  ["items false is no items", { type: "array", items: false }, { const: [] }],
  ["a tuple is a list", { type: "array", prefixItems: [whole, whole], items: false }, list(whole)],
  [
    "a tuple has no more items than places",
    { type: "array", prefixItems: [whole, whole], items: false },
    { maxItems: 2 },
  ],
  ["a list is a tuple without an end", list(whole), { prefixItems: [whole], items: { type: "number" } }],
  ["unique is unique", { ...list(text), uniqueItems: true }, { uniqueItems: true }],
  ["one item is unique", { type: "array", maxItems: 1 }, { uniqueItems: true }],
  ["contains by its items", { ...list(text), minItems: 1 }, { contains: text }],
  ["contains by a place", { type: "array", prefixItems: [text], minItems: 1 }, { contains: text }],
  ["contains of a narrower kind", { type: "array", contains: whole }, { contains: { type: "number" } }],
  [
    "contains few, since few can be",
    { ...list(text), maxItems: 2 },
    { contains: text, minContains: 0, maxContains: 2 },
  ],
  ["contains none, since none can be", list(text), { contains: whole, minContains: 0, maxContains: 0 }],
  // Objects
  ["fewer demands", closed({ a: text, b: whole }), open({ a: text })],
  ["a required member becomes optional", closed({ a: text }), closed({ a: text, b: whole }, [])],
  ["an optional member with the same type", open({ a: text }, []), open({ a: text }, [])],
  ["wider members", closed({ a: whole }), closed({ a: { type: ["number", "string"] } })],
  ["required without properties", { required: ["a"] }, { required: ["a"] }],
  [
    "additional members of a type",
    { type: "object", additionalProperties: whole },
    open({ a: { type: "number" } }, []),
  ],
  ["a map within a map", { type: "object", additionalProperties: whole }, { additionalProperties: { type: "number" } }],
  ["a closed object is a map", closed({ a: whole, b: whole }), { additionalProperties: { type: "number" } }],
  [
    "the same pattern of names",
    { patternProperties: { "^x-": whole } },
    { patternProperties: { "^x-": { type: "number" } } },
  ],
  [
    "names by the same pattern and no others",
    { type: "object", patternProperties: { "^x-": text }, additionalProperties: false },
    { type: "object", patternProperties: { "^x-": text }, properties: { a: whole }, additionalProperties: false },
  ],
  ["closed names against a pattern", closed({ a: text, "x-b": whole }), { patternProperties: { "^x-": whole } }],
  ["enough members", closed({ a: text, b: text }), { minProperties: 2, maxProperties: 2 }],
  ["names of a closed object", closed({ ab: text, cd: text }, []), { propertyNames: { maxLength: 2 } }],
  ["names within names", { propertyNames: { maxLength: 2 } }, { propertyNames: { maxLength: 3 } }],
  [
    "names listed",
    { type: "object", propertyNames: { enum: ["a"] } },
    { properties: { a: true }, additionalProperties: false },
  ],
  ["a dependence that is always met", closed({ a: text, b: text }), { dependentRequired: { a: ["b"] } }],
  ["a dependence on what cannot be there", closed({ c: text }), { dependentRequired: { a: ["b"] } }],
  ["the same dependence", { dependentRequired: { a: ["b"] } }, { dependentRequired: { a: ["b"] } }],
  ["a dependence that applies", { ...open({ a: text }), dependentRequired: { a: ["b"] } }, { required: ["b"] }],
  [
    "a dependent schema that is met",
    closed({ a: text, b: whole }),
    { dependentSchemas: { a: { properties: { b: whole } } } },
  ],
  ["no members at all", { type: "object", maxProperties: 0 }, closed({}, [])],
  ["constructor is a name like others", closed({ constructor: text }), open({ constructor: text })],
  ["__proto__ is no name that comes", open({ a: text }), JSON.parse('{"properties": {"__proto__": false}}')],
  ["a member that may be anything", open({ a: true }), { properties: { a: {} }, required: ["a"] }],
  ["a member that must not be", closed({ a: text }), { properties: { b: false } }],
  // Choices
  ["every branch fits", { anyOf: [text, whole] }, { type: ["string", "number"] }],
  [
    "every branch fits some branch",
    { anyOf: [text, whole] },
    { anyOf: [{ type: "number" }, { type: "boolean" }, text] },
  ],
  ["oneOf on the left is a choice", { oneOf: [text, whole] }, { type: ["string", "integer"] }],
  ["nested choices", { anyOf: [{ anyOf: [text, whole] }, { type: "null" }] }, { type: ["string", "integer", "null"] }],
  ["all of several", { type: "integer", minimum: 2 }, { allOf: [{ minimum: 1 }, { type: "number" }, { minimum: 2 }] }],
  ["one of all suffices", { allOf: [{ minimum: 5, type: "integer" }, { maximum: 9 }] }, { minimum: 0, maximum: 10 }],
  ["exactly one, since types differ", text, { oneOf: [text, whole] }],
  [
    "exactly one, by a discriminator",
    closed({ kind: { const: "a" }, n: whole }),
    { oneOf: [open({ kind: { const: "a" } }), open({ kind: { const: "b" } })] },
  ],
  [
    "branches told apart by a discriminator on the right only",
    closed({ kind: { enum: ["a", "b"] } }),
    { anyOf: [open({ kind: { const: "a" } }), open({ kind: { const: "b" } })] },
  ],
  [
    "a nullable member, by branches",
    closed({ a: { type: ["string", "null"] } }),
    { anyOf: [open({ a: text }), open({ a: { type: "null" } })] },
  ],
  ["not another type", text, { not: whole }],
  ["not another value", { enum: [1, 2] }, { not: { const: 3 } }],
  ["not with a member that is never there", closed({ a: text }), { not: { required: ["b"] } }],
  ["if without then and else", text, { if: whole }],
  ["else without if", whole, { else: false }],
  ["none must be contained", list(text), { contains: whole, minContains: 0 }],
  ["how many must be contained, and not of what", list(text), { minContains: 2 }],
  ["if that never applies", text, conditional(whole, false, true)],
  ["if that always applies", closed({ a: text }), conditional({ required: ["a"] }, { properties: { a: text } }, false)],
  [
    "the same condition",
    conditional(whole, { minimum: 5 }, text),
    conditional(whole, { minimum: 3 }, { type: "string" }),
  ],
  ["the same oneOf", { oneOf: [{ minimum: 1 }, { maximum: 5 }] }, { oneOf: [{ maximum: 5 }, { minimum: 1 }] }],
  // References
  [
    "a shared definition",
    {
      $defs: { name: { type: "string", minLength: 1 } },
      ...closed({ a: { $ref: "#/$defs/name" }, b: { $ref: "#/$defs/name" } }),
    },
    closed({ a: text, b: { type: "string", minLength: 1 } }),
  ],
  ["a definition beside demands", whole, { $defs: { n: { type: "number" } }, $ref: "#/$defs/n", type: "integer" }],
  [
    "what cannot be decided, the same on both sides under other names",
    {
      $defs: { a: { type: "object", propertyNames: { pattern: "a+b" } } },
      items: { $ref: "#/$defs/a" },
    },
    { $defs: { b: { type: "object", propertyNames: { pattern: "a+b" } } }, items: { allOf: [{ $ref: "#/$defs/b" }] } },
  ],
];

const refuted: readonly (readonly [...Pair, counterexample: unknown])[] = [
  ["anything, where nothing is taken", true, false, 0],
  ["another type", text, whole, ""],
  ["a number that is not whole", { type: "number" }, whole, 0.5],
  ["a nullable one", { type: ["string", "null"] }, text, null],
  ["a larger enumeration", { enum: ["a", "b"] }, { enum: ["a"] }, "b"],
  ["any string, where some are listed", text, { enum: ["", "a"] }, "0"],
  ["a lower bound", { type: "integer", minimum: 0 }, { minimum: 1 }, 0],
  ["the bound itself", { type: "number", minimum: 1 }, { exclusiveMinimum: 1 }, 1],
  ["above a bound", { type: "integer" }, { maximum: 99_999 }, 100_000],
  ["not a multiple", whole, { multipleOf: 3 }, 1],
  ["multiples of 3 are not of 6", { type: "integer", multipleOf: 3 }, { multipleOf: 6 }, 3],
  ["a longer string", { type: "string", maxLength: 5 }, { maxLength: 4 }, "aaaaa"],
  ["characters, not units", { enum: ["\u{1f600}\u{1f600}"] }, { minLength: 3 }, "\u{1f600}\u{1f600}"],
  ["an empty string", text, { minLength: 1 }, ""],
  ["another pattern", { type: "string", pattern: "^[a-z]+$" }, { pattern: "^[a-z]{3}$" }, "a"],
  ["any string, where a pattern is asked for", text, { pattern: "^[0-9a-f]{8}$" }, ""],
  ["a missing member", open({ a: text }, []), open({ a: text }), {}],
  ["an optional member of another type", open({ a: text }, []), open({ a: whole }, []), { a: "" }],
  ["a member that an open object may have", open({ a: text }), open({ a: text, b: whole }, ["a"]), { a: "", b: "" }],
  ["an open object, where a closed one is asked for", open({ a: text }), closed({ a: text }), { a: "", x: 0 }],
  ["a name that matches a pattern", { type: "object" }, { patternProperties: { "^x-": whole } }, { "x-": "" }],
  ["a dependence", open({ a: text }, []), { dependentRequired: { a: ["b"] } }, { a: "" }],
  ["a dependent schema", open({ a: text }, []), { dependentSchemas: { a: { minProperties: 2 } } }, { a: "" }],
  ["a long name", { type: "object" }, { propertyNames: { maxLength: 1 } }, { ab: null }],
  ["too few members", { type: "object" }, { minProperties: 1 }, {}],
  ["too many members", { type: "object" }, { maxProperties: 1 }, { x: null, y: null }],
  ["constructor is no inherited member", { type: "object" }, { required: ["constructor"] }, {}],
  ["the same item twice", list(text), { uniqueItems: true }, ["", ""]],
  ["nothing contained", list(text), { contains: { const: "a" } }, []],
  ["too much contained", list(whole), { contains: whole, minContains: 0, maxContains: 2 }, [0, 0, 0]],
  ["an item of another type", list({ type: ["string", "null"] }), list(text), [null]],
  ["an item beyond a tuple", { type: "array", prefixItems: [whole] }, { prefixItems: [whole], items: whole }, [0, ""]],
  ["too many items", list(text), { maxItems: 2 }, ["", "", ""]],
  ["no branch for it", { anyOf: [text, whole] }, { anyOf: [text, { type: "null" }] }, 0],
  ["two branches for it", { type: "integer" }, { oneOf: [{ minimum: 0 }, { maximum: 10 }] }, 0],
  ["a branch that is there twice", whole, { oneOf: [true, true] }, 0],
  ["a branch that is there twice beside another", whole, { oneOf: [true, text, true] }, 0],
  ["no branch at all", whole, { oneOf: [{ minimum: 5 }, { maximum: 2 }] }, 3],
  ["what must not be", { enum: [1, 2] }, { not: { const: 2 } }, 2],
  ["then is not met", { type: "integer" }, conditional({ minimum: 10 }, { multipleOf: 10 }, true), 11],
  ["else is not met", { type: ["integer", "string"] }, conditional(whole, true, { minLength: 1 }), ""],
  [
    "a member deep inside",
    list(closed({ a: list({ type: "number" }) })),
    list(closed({ a: list(whole) })),
    [{ a: [0.5] }],
  ],
  [
    "in a definition",
    { $defs: { n: { type: ["number", "null"] } }, type: "array", items: { $ref: "#/$defs/n" } },
    list({ type: "number" }),
    [null],
  ],
];

const agent_search = closed(
  { query: { type: "string", minLength: 1 }, depth: { type: "integer", minimum: 1, maximum: 5 } },
  ["query"],
);
const agent_result = open({
  summary: text,
  sources: list(
    open({ url: text, title: { type: ["string", "null"] }, score: { type: "number", minimum: 0, maximum: 1 } }, [
      "url",
    ]),
  ),
});

/** What agents really send each other must be told one way or the other. */
const typical: readonly (readonly [...Pair, expected: Verdict["kind"]])[] = [
  [
    "a sender who always says how deep",
    closed({ query: { type: "string", minLength: 3 }, depth: { enum: [1, 2] } }),
    agent_search,
    "proven",
  ],
  ["a sender of a constant", { const: { query: "relay", depth: 3 } }, agent_search, "proven"],
  ["a sender who may send an empty query", closed({ query: text }), agent_search, "refuted"],
  ["a sender who may send more", open({ query: { type: "string", minLength: 1 } }), agent_search, "refuted"],
  ["a sender without a schema", undefined, agent_search, "refuted"],
  ["a taker of anything", agent_search, undefined, "proven"],
  ["a reader of the summary", agent_result, open({ summary: text }), "proven"],
  ["a reader of the sources", agent_result, open({ sources: list(open({ url: text })) }), "proven"],
  ["a reader who needs titles", agent_result, open({ sources: list(open({ title: text })) }), "refuted"],
  [
    "a reader who takes scores up to 1",
    agent_result,
    open({ sources: list(open({ score: { maximum: 1 } }, [])) }),
    "proven",
  ],
  [
    "a reader of scores up to a half",
    agent_result,
    open({ sources: list(open({ score: { maximum: 0.5 } }, [])) }),
    "refuted",
  ],
  [
    "a reader of another enumeration",
    closed({ status: { enum: ["ok", "failed"] } }),
    closed({ status: { enum: ["ok", "error"] } }),
    "refuted",
  ],
  [
    "an optional that is nullable",
    closed({ a: { anyOf: [text, { type: "null" }] } }),
    closed({ a: { type: ["string", "null"] } }, []),
    "proven",
  ],
  ["nullable against absent", closed({ a: { type: ["string", "null"] } }), closed({ a: text }, []), "refuted"],
  [
    "messages of several kinds",
    { anyOf: [closed({ kind: { const: "text" }, text }), closed({ kind: { const: "image" }, url: text })] },
    {
      oneOf: [
        closed({ kind: { const: "image" }, url: text, alt: text }, ["kind", "url"]),
        closed({ kind: { const: "text" }, text }),
        closed({ kind: { const: "audio" }, url: text }),
      ],
    },
    "proven",
  ],
  [
    "messages of a kind that is not taken",
    { anyOf: [closed({ kind: { const: "text" }, text }), closed({ kind: { const: "image" }, url: text })] },
    { anyOf: [closed({ kind: { const: "text" }, text })] },
    "refuted",
  ],
  [
    "labels",
    { type: "object", additionalProperties: text, maxProperties: 16 },
    { type: "object", additionalProperties: { type: ["string", "number"] } },
    "proven",
  ],
  [
    "labels without a bound",
    { type: "object", additionalProperties: text },
    { type: "object", maxProperties: 16 },
    "refuted",
  ],
  [
    "pages",
    closed({ page: { type: "integer", minimum: 1 }, size: { enum: [10, 50] } }),
    closed({ page: { type: "integer", exclusiveMinimum: 0 }, size: { type: "integer", multipleOf: 10 } }),
    "proven",
  ],
  [
    "coordinates",
    { type: "array", prefixItems: [{ type: "number" }, { type: "number" }], items: false, minItems: 2 },
    { type: "array", items: { type: "number" }, minItems: 2, maxItems: 2 },
    "proven",
  ],
  [
    "a list of coordinates too short",
    list({ type: "number" }),
    { type: "array", items: { type: "number" }, minItems: 2 },
    "refuted",
  ],
];

const unknown: readonly (readonly [...Pair, path: string])[] = [
  ["a pattern within a pattern", { type: "string", pattern: "^[a-c]+$" }, { pattern: "^[a-z]+$" }, "/pattern"],
  ["a keyword that the relay does not take, on the right", closed({ a: text }), { unevaluatedProperties: false }, ""],
  ["a keyword that the relay does not take, on the left", { unevaluatedProperties: false }, closed({ a: text }), ""],
  ["a circle", { $defs: { a: { items: { $ref: "#/$defs/a" } } }, $ref: "#/$defs/a" }, true, ""],
  ["a reference to elsewhere", true, { items: { $ref: "https://example.com/schema" } }, "/items"],
  [
    "in a definition",
    list({ type: "string", pattern: "^a$" }),
    { $defs: { a: { pattern: "^a" } }, items: { $ref: "#/$defs/a" } },
    "/$defs/a/pattern",
  ],
];

describe("proven", () => {
  it.each(proven)("%s", (_, left, right) => expect(verdictOf(left, right)).toEqual({ kind: "proven" }));
});

describe("refuted, by the smallest value that shows it", () => {
  it.each(refuted)("%s", (_, left, right, counterexample) => {
    expect(verdictOf(left, right)).toMatchObject({ kind: "refuted", counterexample });
    const content = { media_type: "application/json", bytes: Buffer.from(JSON.stringify(counterexample)) };
    expect(schemas.compile(left ?? true).check(content, "input_unfit")).toBeNull();
    expect(schemas.compile(right ?? true).check(content, "input_unfit")).not.toBeNull();
  });

  it("tells where in the value, and why", () => {
    expect(verdictOf(list(open({ n: { type: "number" } })), list(open({ n: { maximum: 5 } })))).toEqual({
      kind: "refuted",
      counterexample: [{ n: 6 }],
      path: "/0/n",
      because: "must be <= 5",
    });
  });
});

describe("what agents send each other", () => {
  it.each(typical)("%s", (_, left, right, kind) => expect(verdictOf(left, right)).toMatchObject({ kind }));
});

describe("unknown, and where in the right schema", () => {
  it.each(unknown)("%s", (_, left, right, path) =>
    expect(verdictOf(left, right)).toMatchObject({ kind: "unknown", path }),
  );
});
