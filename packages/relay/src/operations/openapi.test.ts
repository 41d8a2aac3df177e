import { readdirSync, readFileSync } from "node:fs";
import { namedSchemas } from "@handfast/protocol/wire";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { renderAll } from "../../../../scripts/generate-openapi.ts";
import { openApi } from "./openapi.ts";
import { operations } from "./table.ts";

const root = new URL("../../../../", import.meta.url);

describe("generated descriptions", () => {
  it.each([...renderAll()])("%s is not stale (node scripts/generate-openapi.ts)", (path, text) => {
    expect(readFileSync(new URL(path, root), "utf8") === text).toBe(true);
  });

  it("leave no schema behind that nothing generates", () => {
    const files = readdirSync(new URL("spec/schemas/", root));
    expect(files.sort()).toEqual(
      Object.keys(namedSchemas)
        .map((name) => `${name}.json`)
        .sort(),
    );
  });

  it("are JSON Schemas of 2020-12 that refer only to each other", () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const files = [...renderAll()].filter(([path]) => path.startsWith("spec/schemas/"));
    for (const [, text] of files) ajv.addSchema(JSON.parse(text));
    for (const [, text] of files) expect(ajv.getSchema(JSON.parse(text).$id)).toBeTypeOf("function");
  });

  it("name every operation once, and no two share a method and path", () => {
    expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length);
    expect(new Set(operations.map(({ method, path }) => `${method} ${path}`)).size).toBe(operations.length);
    const described = Object.values(openApi(operations).paths as Record<string, object>);
    expect(described.flatMap((path) => Object.keys(path))).toHaveLength(operations.length);
  });
});
