import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Client } from "../client.ts";
import { UsageError } from "../errors.ts";
import { type TestRelay, testRelay } from "../testing/mod.ts";
import type { Need } from "./need.ts";

let relay: TestRelay;
let ann: Client;
beforeEach(async () => {
  relay = await testRelay();
  relay.fake("translate", (input) => input, {
    description: "Translates text into French.",
    tags: ["language"],
    version: "1.4.0",
    input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  });
  ann = await relay.connect("ann");
});
afterEach(() => relay.stop());

describe("find", () => {
  it.each<[string, string | Need]>([
    ["words", "french"],
    ["a name and a range of versions", { capability: "translate", version: "^1.2" }],
    ["a tag", { tags: ["language"], live: true }],
    ["an input that it takes", { input: { text: "hello" } }],
    ["a schema of a library", { inputSchema: z.object({ text: z.string() }) }],
  ])("finds by %s, and says why", async (_what, need) => {
    const { hits, found } = await ann.find(need);
    expect([found, hits[0]?.agent_id, hits[0]?.capability.name]).toEqual([1, "translate-1", "translate"]);
    expect(hits[0]?.why.length).toBeGreaterThan(0);
  });

  it("tells who came nearest where nobody meets it, and does not throw", async () => {
    const { hits, found, near } = await ann.find({ capability: "translate", version: "^2" });
    expect([hits, found]).toEqual([[], 0]);
    expect(near).toMatchObject([{ agent_id: "translate-1", lacks: [expect.stringContaining("1.4.0")] }]);
  });

  it("gives no more hits than asked for, and says how many there are", async () => {
    relay.fake("translate", (input) => input);
    await relay.settle();
    const { hits, found } = await ann.find({ capability: "translate" }, { limit: 1 });
    expect([hits.length, found]).toEqual([1, 2]);
  });

  it("throws what the relay refuses for another reason", async () => {
    await expect(ann.find({ version: "not >= a range" })).rejects.toMatchObject({ code: 400, reason: "version_range" });
  });

  it.each<[string, () => Promise<unknown>, RegExp]>([
    ["a misspelt member", () => ann.find({ capabilty: "x" } as never), /no "capabilty"/],
    ["a misspelt option", () => ann.find("x", { limt: 1 } as never), /no "limt"/],
    ["no words", () => ann.find("  "), /words of the need/],
    ["no need", () => ann.find(null as never), /The need is null/],
    ["a share above one", () => ann.find({ minReliability: 1.5 }), /minReliability is 1.5/],
    ["no duration", () => ann.find({ within: "soon" as "1s" }), /within is "soon"/],
    ["more time than there is", () => ann.find({ within: "31d" }), /within is "31d", which is too long/],
    ["text in place of a list", () => ann.find({ tags: "language" as never }), /tags is "language", which is no list/],
    ["a bare number as the price", () => ann.find({ maxCost: 1000 as never }), /maxCost is 1000\./],
  ])("refuses %s before anything is asked", async (_what, act, message) => {
    await expect(act()).rejects.toThrow(message);
    await expect(act()).rejects.toBeInstanceOf(UsageError);
  });
});
