import type { Capability } from "@handfast/protocol";
import { expect, test } from "vitest";
import { costWords } from "./words.ts";

test.each<[string, Parameters<typeof costWords>[0]["cost"], Partial<Capability>]>([
  ["250 per handoff", { amount: 250, per: "handoff" }, {}],
  ["3 per 1,000 tokens", { amount: 3, per: "thousand_tokens" }, {}],
  ["sealed", null, { cost: { sha256: "0".repeat(64) } }],
  ["on asking", null, { proposes: true }],
  ["none said", null, {}],
])("a price is told as %s", (words, cost, said) => {
  expect(costWords({ cost, capability: { name: "upper", ...said } })).toBe(words);
});
