/** Handlers typed by their schemas, and the manifest that follows. What must not compile is marked, and tsc checks it. */

import type { Capability } from "@handfast/protocol";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import Type from "typebox";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type Capabilities, readCapabilities } from "./capabilities.ts";
import type { Context } from "./context.ts";

/** As `serve()` takes them. */
function manifest<Inputs, Outputs>(capabilities: Capabilities<Inputs, Outputs>): Capability[] {
  return [...readCapabilities(capabilities).values()].map(({ capability }) => capability);
}

const Query = z.object({
  query: z.string(),
  depth: z.number().default(1),
  at: z.string().transform((t) => new Date(t)),
});
const Report = z.object({ summary: z.string(), sources: z.array(z.string()).default([]) });

describe("types", () => {
  test("a handler is given what its input schema makes, and returns what its output schema takes", () => {
    const made = manifest({
      zod: {
        input: Query,
        output: Report,
        timeout: "5m",
        handler: async ({ query, depth, at }, ctx) => {
          const deep: number = depth;
          const when: Date = at;
          ctx.progress(deep, when.toISOString());
          return { summary: query };
        },
      },
      valibot: { input: toStandardJsonSchema(v.object({ a: v.string() })), handler: ({ a }) => a.length },
      typebox: {
        input: Type.Object({ t: Type.String(), o: Type.Optional(Type.Number()) }),
        output: Type.Object({ n: Type.Number() }),
        handler: ({ t, o }) => ({ n: t.length + (o ?? 0) }),
      },
      constant: {
        input: { type: "object", properties: { k: { type: "string" } }, required: ["k"] } as const,
        handler: ({ k }) => k.length,
      },
      loose: { input: { type: "object" }, handler: ({ z }: { z: number }) => z },
      bare: (input, ctx) => `${String(input)} ${ctx.attempt}`,
      named: ({ k }: { k: string }, ctx: Context) => k + ctx.attempt,
    });
    expect(made.map(({ name }) => name)).toEqual(["zod", "valibot", "typebox", "constant", "loose", "bare", "named"]);
  });

  test("what does not fit its schemas does not compile", () => {
    manifest({
      // @ts-expect-error the summary is a string
      wrong: { input: Query, output: Report, handler: () => ({ summary: 3 }) },
    });
    manifest({
      // @ts-expect-error a promise of the wrong thing
      wrong: { input: Query, output: Report, handler: async () => ({ title: "" }) },
    });
    manifest({
      // @ts-expect-error there is no such field
      wrong: { input: Query, output: Report, handler: ({ nope }) => ({ summary: String(nope) }) },
    });
    manifest({
      // @ts-expect-error the query is a string
      wrong: { input: Query, handler: ({ query }: { query: number }) => query },
    });
    manifest({
      // @ts-expect-error the schema promises no such field
      wrong: { input: Query, handler: ({ more }: { query: string; more: number }) => more },
    });
    manifest({
      // @ts-expect-error TypeBox: n is a number
      wrong: { output: Type.Object({ n: Type.Number() }), handler: () => ({ n: "one" }) },
    });
    manifest({
      // @ts-expect-error the context has no such method
      wrong: (_input, ctx) => ctx.proceed(),
    });
    expect(() =>
      manifest({
        // @ts-expect-error a misspelt option
        wrong: { timeuot: "5m", handler: () => null },
      }),
    ).toThrow(/timeuot/);
  });
});

describe("the manifest", () => {
  test("says what the definition says, in the relay's words", () => {
    const [made] = manifest({
      web_research: {
        input: z.object({ query: z.string() }),
        output: { type: "string" },
        timeout: "90s",
        description: "Looks things up",
        version: "2",
        tags: ["web"],
        idempotent: false,
        handler: () => "",
      },
    });
    expect(made).toEqual({
      name: "web_research",
      input_schema: expect.objectContaining({ type: "object" }),
      output_schema: { type: "string" },
      timeout_seconds: 90,
      description: "Looks things up",
      version: "2",
      tags: ["web"],
      idempotent: false,
    });
  });

  test("of a bare function has only its name", () => {
    expect(manifest({ shout: () => "" })).toEqual([{ name: "shout" }]);
  });

  test.each([
    ["nothing", {}, /no capability/],
    ["no handler", { work: { input: { type: "string" } } }, /work has no handler/],
    ["a name that is none", { "web research": () => null }, /"web research"/],
    ["a timeout that is none", { work: { timeout: "soon", handler: () => null } }, /The timeout of work is "soon"/],
  ])("is refused for %s", (_what, capabilities, message) => {
    expect(() => readCapabilities(capabilities)).toThrow(message);
  });
});
