/**
 * Pairs of schemas that are made to cost much. Not a measure of speed: what is not bounded takes minutes or never ends.
 * Measured on 2 shared cores, the worst of these takes 0.2 s of processor time, and 60 MB until memory is collected.
 */

import { describe, expect, it } from "vitest";
import { limits, type RelayLimits } from "../../limits.ts";
import { Schemas } from "../schemas.ts";
import { compare, type Schema, type Verdict } from "./compare.ts";
import { conditional } from "./testing/draw-schema.ts";
import type { JsonObject } from "./testing/vocabulary.ts";

type Raw = Readonly<Record<string, unknown>>;

const hang_ms = 20_000;

const times = <Item>(count: number, make: (n: number) => Item) => Array.from({ length: count }, (_, n) => make(n));
const members = (count: number, make: (n: number) => unknown): Raw =>
  Object.fromEntries(times(count, (n) => [`p${n}`, make(n)]));
const kinds = (count: number): readonly Raw[] =>
  times(count, (n) => ({
    type: "object",
    properties: { kind: { const: `k${n}` }, v: { minimum: n } },
    required: ["kind"],
  }));
const requires = (name: string): JsonObject => ({ required: [name] });
const nested = (levels: number, leaf: Raw): Raw =>
  levels === 0 ? leaf : { type: "array", items: nested(levels - 1, leaf) };

/** Twice what is below, by references. */
function doubling(levels: number, leaf: Raw): Raw {
  const $defs: Record<string, unknown> = { d0: leaf };
  for (let n = 1; n <= levels; n++) {
    const below = { $ref: `#/$defs/d${n - 1}` };
    $defs[`d${n}`] = { type: "object", required: ["a", "b"], properties: { a: below, b: below } };
  }
  return { $defs, $ref: `#/$defs/d${levels}` };
}

function verdictOf(left: Schema, right: Schema, more: Partial<RelayLimits> = {}): Verdict {
  return compare(left, right, { schemas: new Schemas(), random: () => 0.5, limits: { ...limits, ...more } });
}

describe("bombs end", () => {
  it.each<[string, Raw, Raw, Verdict["kind"]]>([
    [
      "64 kinds on both sides",
      { oneOf: kinds(64) },
      { oneOf: kinds(64).map((kind) => ({ ...kind, minProperties: 1 })) },
      "unknown",
    ],
    [
      "choices that multiply",
      { allOf: times(12, (i) => ({ anyOf: times(20, (n) => ({ properties: { [`a${i}`]: { minimum: n } } })) })) },
      { anyOf: times(60, (n) => ({ properties: { [`a${n % 12}`]: { minimum: n + 1 } } })) },
      "unknown",
    ],
    [
      "choices that multiply on both sides",
      { allOf: times(60, (n) => ({ anyOf: [requires(`a${n}`), requires(`b${n}`)] })) },
      { allOf: times(60, (n) => ({ anyOf: [requires(`b${n}`), requires(`c${n}`)] })) },
      "unknown",
    ],
    [
      "conditions that multiply",
      { allOf: times(40, (n) => conditional(requires(`a${n}`), requires(`b${n}`), requires(`c${n}`))) },
      { allOf: times(40, (n) => conditional(requires(`c${n}`), requires(`b${n}`), requires(`a${n}`))) },
      "unknown",
    ],
    [
      "exclusions",
      { allOf: times(60, (n) => ({ not: { required: [`a${n}`], properties: { [`a${n}`]: { minimum: 3 } } } })) },
      { allOf: times(60, (n) => ({ not: { required: [`a${n}`], properties: { [`a${n}`]: { minimum: 2 } } } })) },
      "unknown",
    ],
    [
      "much to be contained",
      { type: "array", allOf: times(60, (n) => ({ contains: { type: "object", required: [`a${n}`] } })) },
      { allOf: times(60, (n) => ({ contains: requires(`b${n}`) })) },
      "unknown",
    ],
    [
      "dependences in a row",
      { type: "object", dependentRequired: members(400, (n) => [`p${n + 1}`]) },
      { dependentRequired: members(400, (n) => [`p${n + 2}`]) },
      "unknown",
    ],
    [
      "patterns for many names",
      {
        type: "object",
        patternProperties: Object.fromEntries(times(30, (n) => [`^(a|b)*${n}(c|d)*$`, { type: "integer" }])),
        properties: members(400, () => ({ type: "integer" })),
      },
      { patternProperties: Object.fromEntries(times(30, (n) => [`^(a|b)*${n}(c|d)*`, { type: "string" }])) },
      "unknown",
    ],
    ["a string longer than any payload", { type: "string", minLength: 1e9 }, { maxLength: 5 }, "unknown"],
    ["an array longer than any payload", { type: "array", minItems: 1e9 }, { maxItems: 5 }, "unknown"],
    ["an object larger than any payload", { type: "object", minProperties: 1e9 }, { maxProperties: 5 }, "unknown"],
    [
      "long strings in many members",
      {
        type: "object",
        properties: members(100, () => ({ type: "string", minLength: 20_000 })),
        required: Object.keys(members(100, () => 0)),
      },
      { properties: members(100, () => ({ maxLength: 10 })) },
      "unknown",
    ],
    ["doubling", doubling(9, { type: "integer" }), doubling(9, { type: "string" }), "refuted"],
    ["doubling that fits", doubling(9, { type: "integer" }), doubling(9, { type: "number" }), "proven"],
    ["deep arrays", nested(30, { type: "integer" }), nested(30, { type: "string" }), "refuted"],
    [
      "one member of 480",
      {
        type: "object",
        properties: members(480, () => ({ type: "integer" })),
        required: Object.keys(members(480, () => 0)),
      },
      { properties: members(480, (n) => ({ type: n === 470 ? "string" : "number" })) },
      "refuted",
    ],
    [
      "the last of 64 kinds",
      { anyOf: kinds(64) },
      { anyOf: [...kinds(63), { properties: { kind: { const: "k63" }, v: { minimum: 100 } } }] },
      "refuted",
    ],
    [
      "500 objects",
      { enum: times(499, (n) => ({ a: { b: n } })) },
      { enum: times(499, (n) => ({ a: { b: n + 1 } })) },
      "refuted",
    ],
    ["a circle", { $defs: { a: { items: { $ref: "#/$defs/a" } } }, $ref: "#/$defs/a" }, {}, "unknown"],
    ["a schema too large to be taken", { properties: members(501, () => true) }, {}, "unknown"],
  ])("%s", (_, left, right, kind) => {
    const began = performance.now();
    expect(verdictOf(left, right).kind).toBe(kind);
    expect(performance.now() - began).toBeLessThan(hang_ms);
  });
});

describe("every limit is kept", () => {
  const left = { anyOf: [{ type: "string" }, { type: "integer" }] };
  const wider = { type: ["string", "number"] };
  const narrower = { type: "string" };

  it("a proof that would cost more is given up", () => {
    expect(verdictOf(left, wider).kind).toBe("proven");
    expect(verdictOf(left, wider, { compare_proof_steps: 1_000 })).toEqual({
      kind: "unknown",
      path: "",
      because: "the schemas are too large to be compared",
    });
  });

  it("a proof that goes deeper is given up", () => {
    const [inner, outer] = [nested(20, { type: "integer" }), nested(20, { type: "number" })];
    expect(verdictOf(inner, outer).kind).toBe("proven");
    expect(verdictOf(inner, outer, { compare_depth: 10 })).toMatchObject({
      kind: "unknown",
      because: "the schemas are nested too deep to be compared",
    });
  });

  it.each(["compare_search_steps", "compare_samples", "compare_sample_bytes", "compare_check_steps"] as const)(
    "a search beyond %s is given up",
    (limit) => {
      expect(verdictOf(left, narrower).kind).toBe("refuted");
      expect(verdictOf(left, narrower, { [limit]: 0 })).toMatchObject({ kind: "unknown", path: "/type" });
    },
  );

  it("a counterexample is made smaller for a while only", () => {
    const long = { type: "string", minLength: 3 };
    const pair = [
      { type: "object", properties: { a: long, b: long }, required: ["a"] },
      { properties: { a: { maxLength: 2 } } },
    ] as const;
    expect(verdictOf(pair[0], pair[1], { compare_shrink_tries: 0 }).kind).toBe("refuted");
  });
});
