/** Schemas of the libraries people use, read by interface alone. */

import { toStandardJsonSchema } from "@valibot/to-json-schema";
import Type from "typebox";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { UsageError } from "../errors.ts";
import { readSchema } from "./schema.ts";

const shape = { type: "object", properties: { query: { type: "string" } }, required: ["query"] };

describe("the JSON Schema that the relay gets", () => {
  test.each([
    ["zod", z.object({ query: z.string() })],
    ["valibot by its converter", toStandardJsonSchema(v.object({ query: v.string() }))],
    ["TypeBox", Type.Object({ query: Type.String() })],
    ["JSON Schema", shape],
  ])("of %s", (_name, schema) => {
    expect(readSchema(schema, "input", "The input of find").json).toMatchObject(shape);
  });

  test("says of an input what the sender gives, before defaults and transforms", () => {
    const schema = z.object({ depth: z.number().default(1), at: z.string().transform((text) => new Date(text)) });
    const { json } = readSchema(schema, "input", "The input of find");
    expect(json).toMatchObject({ required: ["at"], properties: { at: { type: "string" } } });
  });

  test("holds only what can be sent", () => {
    const { json } = readSchema(Type.Object({ query: Type.Optional(Type.String()) }), "input", "The input of find");
    expect(JSON.parse(JSON.stringify(json))).toEqual(json);
  });
});

describe("the schema's own check", () => {
  test("gives defaults and transforms", async () => {
    const schema = z.object({ depth: z.number().default(1), at: z.string().transform((text) => new Date(text)) });
    const checked = await readSchema(schema, "input", "The input of find").check({ at: "2026-01-01T00:00:00Z" });
    expect(checked).toEqual({ value: { depth: 1, at: new Date("2026-01-01T00:00:00Z") } });
  });

  test.each([
    ["zod", z.object({ query: z.string().refine((text) => text !== "", "is empty") })],
    ["valibot", toStandardJsonSchema(v.object({ query: v.pipe(v.string(), v.minLength(1, "is empty")) }))],
  ])("of %s names the path of what it refuses", async (_name, schema) => {
    const read = readSchema(schema, "input", "The input of find");
    expect(await read.check({ query: "" })).toEqual({ fault: "/query: is empty" });
  });

  test("passes everything where there is none", async () => {
    expect(await readSchema(shape, "input", "The input of find").check(7)).toEqual({ value: 7 });
  });
});

describe("what cannot be read is refused with the way out", () => {
  test.each([
    ["a valibot schema without its converter", v.object({ query: v.string() }), /toStandardJsonSchema/],
    ["a date, which JSON has not", z.object({ at: z.date() }), /over the wire/],
    ["a word", "string", /JSON Schema object/],
    ["a list", [shape], /JSON Schema object/],
  ])("%s", (_name, schema, remedy) => {
    const read = () => readSchema(schema, "input", "The input of find");
    expect(read).toThrow(/^The input of find/);
    expect(read).toThrow(expect.objectContaining({ reason: "usage", remedy: expect.stringMatching(remedy) }));
  });

  test("which names shorthand where it is taken, and nowhere else", () => {
    const remedyOf = (...form: ["shorthand_too"?]) => {
      try {
        return readSchema("string", "input", "It", ...form);
      } catch (error) {
        return (error as UsageError).remedy;
      }
    };
    expect(remedyOf("shorthand_too")).toMatch(
      /\{ type: "string" \}, or an object in shorthand: \{ query: "string" \}\.$/,
    );
    expect(remedyOf()).toMatch(/JSON Schema object: \{ type: "string" \}\.$/);
  });
});
