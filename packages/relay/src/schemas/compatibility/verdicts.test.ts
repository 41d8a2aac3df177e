/**
 * Verdicts that other checkers get wrong, by name; and verdicts on pairs that nobody thought of, of which none may be
 * contradicted by a value. `npm run check-schemas` does more of those.
 */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { limits } from "../../limits.ts";
import { Schemas } from "../schemas.ts";
import { compare, type Verdict } from "./compare.ts";
import { bytes, checkPairs } from "./testing/check-pairs.ts";
import { conditional, type DrawnSchema } from "./testing/draw-schema.ts";
import { secondOpinion } from "./testing/second-opinion.ts";
import { Tape } from "./testing/tape.ts";
import { tryPair } from "./testing/trial.ts";
import type { JsonObject } from "./testing/vocabulary.ts";

const text = { type: "string" };
const whole = { type: "integer" };
const number = { type: "number" };
const open = (properties: JsonObject, required: readonly string[] = Object.keys(properties)): JsonObject => {
  return { type: "object", properties, required };
};
const closed = (properties: JsonObject, required?: readonly string[]): JsonObject => {
  return { ...open(properties, required), additionalProperties: false };
};
const circle = { $defs: { a: { items: { $ref: "#/$defs/a" } } }, $ref: "#/$defs/a" };
const branched = { oneOf: [{ minimum: 1 }, { maximum: 5 }], not: { const: 7 } };

type Trap = readonly [what: string, left: DrawnSchema, right: DrawnSchema, kind: Verdict["kind"]];

const traps: readonly Trap[] = [
  // Said to be compatible by checkers that are not sound
  [
    "an optional member is added, and open objects may have it already",
    open({ a: text }),
    open({ a: text, b: whole }, ["a"]),
    "refuted",
  ],
  [
    "an optional member is added, and closed objects have no other",
    closed({ a: text }),
    open({ a: text, b: whole }, ["a"]),
    "proven",
  ],
  [
    "patternProperties: an open object may have such a name",
    { type: "object" },
    { patternProperties: { "^x-": whole } },
    "refuted",
  ],
  [
    "patternProperties: of the same pattern",
    { patternProperties: { "^x-": whole } },
    { patternProperties: { "^x-": number } },
    "proven",
  ],
  [
    "patternProperties: no name of a closed object matches",
    closed({ a: text }),
    { patternProperties: { "^x-": whole } },
    "proven",
  ],
  [
    "dependentRequired: the one may come without the other",
    open({ a: text }, []),
    { dependentRequired: { a: ["b"] } },
    "refuted",
  ],
  [
    "dependentRequired: the other always comes",
    closed({ a: text, b: text }),
    { dependentRequired: { a: ["b"] } },
    "proven",
  ],
  [
    "unevaluatedProperties is no keyword that the relay takes",
    closed({ a: text }),
    { ...open({ a: text }), unevaluatedProperties: false },
    "unknown",
  ],
  [
    "unevaluatedProperties, even the same on both sides",
    { unevaluatedProperties: false },
    { unevaluatedProperties: false },
    "unknown",
  ],
  // Keywords that checkers ignore
  ["enum: a value is taken no more", { enum: ["a", "b"] }, { enum: ["a"] }, "refuted"],
  ["enum: fewer values come", { enum: ["a"] }, { enum: ["a", "b"] }, "proven"],
  ["const: another value", { const: "a" }, { const: "b" }, "refuted"],
  ["const: any string, where one is taken", text, { const: "a" }, "refuted"],
  ["const: within an enum", { const: "a" }, { enum: ["a", "b"] }, "proven"],
  ["pattern: any string, where some match", text, { pattern: "^[a-z]+$" }, "refuted"],
  [
    "pattern: the same one, of shorter strings",
    { type: "string", pattern: "^[a-z]+$", maxLength: 3 },
    { pattern: "^[a-z]+$" },
    "proven",
  ],
  [
    "pattern: a narrower one is not decided",
    { type: "string", pattern: "^[a-c]+$" },
    { pattern: "^[a-z]+$" },
    "unknown",
  ],
  ["multipleOf: of a divisor", { type: "integer", multipleOf: 3 }, { multipleOf: 6 }, "refuted"],
  ["multipleOf: of a multiple", { type: "integer", multipleOf: 6 }, { multipleOf: 3 }, "proven"],
  ["if: what it demands may not hold", whole, conditional({ minimum: 10 }, { multipleOf: 10 }, true), "refuted"],
  ["if: it never applies", text, conditional(whole, false, true), "proven"],
  // What looks narrower and is not, or looks wider and is not
  ["integer is within number", whole, number, "proven"],
  ["number is not within integer", number, whole, "refuted"],
  ["a number written 1.0 is an integer", { const: 1.0 }, whole, "proven"],
  ["a member becomes required", open({ a: text }, []), open({ a: text }), "refuted"],
  ["a member becomes optional", open({ a: text }), open({ a: text }, []), "proven"],
  ["an object is closed", open({ a: text }), closed({ a: text }), "refuted"],
  ["null is not absent", closed({ a: { type: ["string", "null"] } }), closed({ a: text }, []), "refuted"],
  ["a bound that excludes itself", { type: "number", minimum: 1 }, { exclusiveMinimum: 1 }, "refuted"],
  ["above 0 is at least 1, of whole numbers", { type: "integer", exclusiveMinimum: 0 }, { minimum: 1 }, "proven"],
  ["above 0 is not at least 1, of any numbers", { type: "number", exclusiveMinimum: 0 }, { minimum: 1 }, "refuted"],
  ["lengths count characters, not their units", { const: "\u{1f600}" }, { maxLength: 1 }, "proven"],
  ["items beyond a tuple", { type: "array", prefixItems: [whole] }, { prefixItems: [whole], items: whole }, "refuted"],
  [
    "a tuple that ends is a list",
    { type: "array", prefixItems: [whole, whole], items: false },
    { items: whole },
    "proven",
  ],
  ["a bound says nothing of other types", { minimum: 1 }, { type: "number" }, "refuted"],
  ["required says nothing of what is no object", { required: ["a"] }, open({ a: true }), "refuted"],
  ["constructor is no member that every object has", { type: "object" }, { required: ["constructor"] }, "refuted"],
  ["a format is not checked", text, { type: "string", format: "email" }, "proven"],
  // Choices
  [
    "anyOf: every branch has one that takes it",
    { anyOf: [text, whole] },
    { anyOf: [number, text, { type: "null" }] },
    "proven",
  ],
  ["anyOf: one branch has none", { anyOf: [text, whole] }, { anyOf: [text, { type: "null" }] }, "refuted"],
  [
    "anyOf: only together the branches take it",
    { type: ["string", "null"] },
    { anyOf: [text, { type: "null" }] },
    "proven",
  ],
  ["oneOf: two branches take it", whole, { oneOf: [{ minimum: 0 }, { maximum: 10 }] }, "refuted"],
  ["oneOf: a branch that is there twice takes nothing", true, { oneOf: [true, true] }, "refuted"],
  ["oneOf: nothing comes of a branch that is there twice", { oneOf: [text, text] }, whole, "proven"],
  ["not: what must not be may come", { enum: [1, 2] }, { not: { const: 2 } }, "refuted"],
  // What the left demands may be ignored, what the right demands may not
  [
    "the left demands what nobody needs to understand",
    { ...closed({ a: text }), ...branched },
    open({ a: text }),
    "proven",
  ],
  [
    "both demand the same that nobody understands",
    { type: "array", items: branched },
    { items: { allOf: [branched] } },
    "proven",
  ],
  ["a contradiction promises everything", { type: "string", minLength: 3, maxLength: 2 }, whole, "proven"],
  // References
  [
    "a reference that ends",
    { $defs: { n: whole }, ...closed({ a: { $ref: "#/$defs/n" } }) },
    closed({ a: number }),
    "proven",
  ],
  ["a reference in a circle", circle, true, "unknown"],
];

describe("traps", () => {
  const schemas = new Schemas();

  it.each(traps)("%s", (_, left, right, kind) => {
    const verdict = compare(left, right, { schemas, random: () => 0.5, limits });
    expect(verdict).toMatchObject({ kind });
    if (verdict.kind !== "refuted") return;
    // By the relay's own checkers, and by one that has nothing of ours in it.
    const content = { media_type: "application/json", bytes: Buffer.from(JSON.stringify(verdict.counterexample)) };
    expect(schemas.compile(left).check(content, "input_unfit")).toBeNull();
    expect(schemas.compile(right).check(content, "input_unfit")).not.toBeNull();
    expect(secondOpinion(left).fits(verdict.counterexample)).toBe(true);
    expect(secondOpinion(right).fits(verdict.counterexample)).toBe(false);
  });
});

it("items that are unique are so among those of prefixItems too, of whatever type, which ajv alone does not see", () => {
  const schema = { type: "array", prefixItems: [true, true], items: { type: "string" }, uniqueItems: true };
  const content = { media_type: "application/json", bytes: Buffer.from("[null,null]") };
  expect(new Schemas().compile(schema).check(content, "input_unfit")).not.toBeNull();
  expect(secondOpinion(schema).fits([null, null])).toBeNull();
});

it("the empty name may be missing as any other, which ajv alone does not see", () => {
  const demands = { type: "object", required: [""] };
  const verdict = compare({ type: "object" }, demands, { schemas: new Schemas(), random: () => 0.5, limits });
  expect(verdict).toMatchObject({ kind: "refuted", counterexample: {} });
  expect(secondOpinion(demands).fits({})).toBeNull();
});

it("no value contradicts a verdict, and three readings of a schema tell the same: ours, its compiled checker, ajv alone", () => {
  fc.assert(
    fc.property(bytes, (drawn) => {
      const { contradictions, left, right } = tryPair(new Tape(drawn));
      expect(contradictions, JSON.stringify({ left, right })).toEqual([]);
    }),
    { numRuns: 400 },
  );
});

it("all three verdicts occur, few are unknown, and most proofs are tried by values", () => {
  const { pairs, refused, verdicts, samples, opinions, vacuous, contradictions } = checkPairs(6_000, 1, () => {});
  const judged = pairs - refused;
  expect(contradictions).toBe(0);
  expect(refused).toBeLessThan(pairs / 50);
  expect(verdicts.proven).toBeGreaterThan(judged / 5);
  expect(verdicts.refuted).toBeGreaterThan(judged / 5);
  expect(verdicts.unknown).toBeGreaterThan(0);
  expect(verdicts.unknown).toBeLessThan(judged / 50);
  expect(vacuous).toBeLessThan(verdicts.proven / 2);
  expect(opinions).toBeGreaterThan(samples / 2);
});

it("the same seed does the same", () => {
  expect(checkPairs(300, 5, () => {})).toEqual(checkPairs(300, 5, () => {}));
  expect(checkPairs(300, 5, () => {})).not.toEqual(checkPairs(300, 6, () => {}));
});
