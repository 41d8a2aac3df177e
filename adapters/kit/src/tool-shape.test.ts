/** What a model is told of an input that is no object. */

import type { Client } from "@handfast/client";
import { expect, test } from "vitest";
import { toolShapeOf } from "./tool-shape.ts";

// With a description and a schema nobody is asked.
const nobody = {} as Client;

test.each(["$defs", "definitions"])("what a schema refers to in its %s is found at the top", async (place) => {
  const item = { type: "object", properties: { name: { type: "string" } } };
  const list = { type: "array", items: { $ref: `#/${place}/Item` } };
  const input = { ...list, [place]: { Item: item } };
  const { schema, inputOf } = await toolShapeOf(nobody, { capability: "bulk", description: "Many at once.", input });
  expect(schema).toEqual({
    type: "object",
    properties: { input: list },
    required: ["input"],
    additionalProperties: false,
    [place]: { Item: item },
  });
  expect(inputOf({ input: [{ name: "Ada" }] })).toEqual([{ name: "Ada" }]);
});
