import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";
import { otherId, sampleId } from "./testing/sample.ts";

test("a mistyped end of an id is recognised", () => {
  expect(nearest("0000abce", [otherId, sampleId])).toBe(sampleId);
});

test("what is far from everything is not guessed", () => {
  expect(nearest("ffff", [otherId, sampleId])).toBe(null);
});
