import { expect, test } from "vitest";
import { answerFault } from "./answer-fit.ts";

test.each([
  ["red", { type: "string" }, null],
  [5, { type: "string" }, "it must be of type string, and is of type number"],
  [5, { type: "integer" }, null],
  [5.5, { type: "integer" }, "it must be of type integer, and is of type number"],
  [null, { type: ["string", "null"] }, null],
  ["blue", { enum: ["red", "green"] }, 'it must be one of "red", "green"'],
  ["red", { enum: ["red", "green"] }, null],
  ["no", { const: "yes" }, 'it must be "yes"'],
  [{ a: 1 }, { type: "object", required: ["a", "b"] }, "it lacks b"],
  [[], { type: "object" }, "it must be of type object, and is of type array"],
  ["anything", undefined, null],
  ["anything", true, null],
  ["x", { type: "of_a_newer_schema" }, null],
])("%o against %o: %s", (value, schema, fault) => {
  expect(answerFault(value, schema)).toBe(fault);
});
