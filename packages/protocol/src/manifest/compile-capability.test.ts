import { describe, expect, it, test } from "vitest";
import type { Capability } from "../fields.ts";
import { compileCapability } from "./compile-capability.ts";
import { placeInShorthand } from "./place-in-shorthand.ts";

describe("a capability with its schemas in full", () => {
  it("is the very same object where they were in full already", () => {
    const capability: Capability = { name: "a", input_schema: { type: "string" }, output_schema: {} };
    expect(compileCapability(capability)).toMatchObject({
      ok: true,
      capability: expect.toSatisfy((it) => it === capability),
    });
  });

  it("has closed inputs and answers, and open outputs", () => {
    const read = compileCapability({
      name: "a",
      input_schema: { q: "string" },
      output_schema: { a: "string" },
      questions: [{ name: "which", schema: { choice: "int" } }, { name: "sure" }],
    });
    expect(read).toMatchObject({
      ok: true,
      capability: {
        input_schema: { additionalProperties: false },
        output_schema: expect.not.objectContaining({ additionalProperties: false }),
        questions: [{ name: "which", schema: { additionalProperties: false } }, { name: "sure" }],
      },
    });
    expect(read.ok && read.schemas.map(({ path }) => path)).toEqual([
      "/input_schema",
      "/output_schema",
      "/questions/0/schema",
    ]);
  });

  it("names the place of what it cannot read", () => {
    const read = compileCapability({ name: "a", questions: [{ name: "which", schema: { a: { b: 1 } } }] });
    expect(read).toMatchObject({ ok: false, fault: { path: "/questions/0/schema/a/b" } });
  });
});

describe("a place in shorthand", () => {
  const written = { a: { "b?": [{ minimum: "x" }] }, "c/d": "string[]", e: { type: "object", properties: { f: 1 } } };
  test.each([
    ["", ""],
    ["/properties/a", "/a"],
    ["/properties/a/properties/b", "/a/b?"],
    ["/properties/a/properties/b/items", "/a/b?/0"],
    ["/properties/a/properties/b/items/minimum", "/a/b?/0/minimum"],
    ["/properties/c~1d/items", "/c~1d"],
    ["/properties/e/properties/f", "/e/properties/f"],
    ["/additionalProperties", "/additionalProperties"],
  ])("%j is written at %j", (path, place) => expect(placeInShorthand(written, path)).toBe(place));

  it("of a schema in full is the same", () => {
    expect(placeInShorthand({ properties: { a: 1 } }, "/properties/a")).toBe("/properties/a");
  });
});
