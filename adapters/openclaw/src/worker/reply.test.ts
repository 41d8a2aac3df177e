/** How a model's reply becomes an output, and what an attempt makes of the one before. */

import type { Context } from "@handfast/client";
import { describe, expect, test } from "vitest";
import { againMessage, failureBefore, firstMessage, outputSchemas, readJson } from "./reply.ts";

const schema = { type: "object" };
const served = { name: "sum", agent: "main", output: schema };

function context(failures: readonly { code: number; message: string }[] = [], expects?: object): Context {
  const previous = { failures: failures.map(({ code, message }) => ({ code, error: { reason: "r", message } })) };
  return {
    attempt: failures.length + 1,
    previous,
    handoff: { id: "0193", from: "ann", capability: "sum", expects },
  } as never;
}

describe("a reply is read as JSON", () => {
  test.each([
    ['{"a":1}', { a: 1 }],
    ['Here it is:\n```json\n{"a":1}\n```\nBye.', { a: 1 }],
    ["```\n[1]\n```", [1]],
    ["null", null],
  ])("%j", (reply, output) => expect(readJson(reply)).toEqual({ output }));

  test.each(["Done!", "```json\n{\n```", ""])("but not %j", (reply) => {
    expect(readJson(reply)).toEqual({ fault: "it is not JSON" });
  });
});

test("the output must fit what the capability promises and what the sender asks for", () => {
  const asked = { type: "object", required: ["b"] };
  expect(outputSchemas(served, context())).toEqual([schema]);
  expect(outputSchemas(served, context([], { output_schema: asked }))).toEqual([schema, asked]);
  expect(outputSchemas({ name: "chat", agent: "main" }, context())).toEqual([]);
  expect(firstMessage(served, 1, context([], { output_schema: asked }))).toContain('"required":["b"]');
});

test("an attempt that was cut off is gone on with; one that failed is told why", () => {
  expect(failureBefore(context())).toBeNull();
  expect(failureBefore(context([{ code: 521, message: "lost" }]))).toBeNull();
  expect(againMessage(served, context([{ code: 521, message: "lost" }]))).toContain("was cut off. Go on");
  expect(failureBefore(context([{ code: 500, message: "no luck" }]))).toBe("no luck");
  expect(againMessage(served, context([{ code: 500, message: "no luck" }]))).toContain("failed: no luck");
});
