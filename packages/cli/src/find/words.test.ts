import type { Miss } from "@handfast/client";
import type { Capability } from "@handfast/protocol";
import { expect, test } from "vitest";
import { Terminal } from "../terminal.ts";
import { overWords } from "./contract-words.ts";
import { costWords, declinedWords, noteMisses } from "./words.ts";

test.each<[string, Parameters<typeof costWords>[0]["cost"], Partial<Capability>]>([
  ["250 per handoff", { amount: 250, per: "handoff" }, {}],
  ["3 per 1,000 tokens", { amount: 3, per: "thousand_tokens" }, {}],
  ["sealed", null, { cost: { sha256: "0".repeat(64) } }],
  ["on asking", null, { proposes: true }],
  ["none said", null, {}],
])("a price is told as %s", (words, cost, said) => {
  expect(costWords({ cost, capability: { name: "upper", ...said } })).toBe(words);
});

test.each([
  ["above_max_cost", "counter asks more than --max-cost."],
  ["no_answer", "counter did not answer in time; --reply-by gives it longer."],
  ["sealed", "counter was not asked (sealed): Why."],
  ["too_often", "counter declined (too_often): Why."],
])("of one without an offer for the reason %s it is told what it did", (reason, told) => {
  expect(declinedWords({ agent_id: "counter", capability: "count", reason, message: "Why." })).toBe(told);
});

const miss = (agent_id: string, lack: string): Miss => ({ agent_id, capability: "c", version: null, lacks: [lack] });

test("what all of the nearest lack is told once", () => {
  const lines = noted(["a", "b", "c", "d"].map((name) => miss(name, "It says nothing of cheese.")));
  expect(lines).toEqual([
    "The nearest, a · c, b · c and 2 more, all lack the same:",
    "    lacks: It says nothing of cheese.",
  ]);
});

test("each of the nearest is told where they lack different things", () => {
  expect(noted(["a", "b", "c"].map((name) => miss(name, `It is not ${name}.`)))).toHaveLength(7);
});

test("what is refuted of the schemas stands once among what is lacking, what is unknown beside it", () => {
  const schemas = {
    input: { verdict: "refuted", because: "type", counterexample: 1 },
    output: { verdict: "unknown", because: "too deep" },
  } as const;
  expect(noted([{ ...miss("a", "It does not take 1."), schemas }])).toEqual([
    "The nearest:",
    "  a · c",
    "    lacks: It does not take 1.",
    "    output schema unknown: too deep",
  ]);
});

test.each([
  ["in_force", null],
  ["stale", null],
  ["expired", "abc had expired before, 1970-01-01 00:00:05.000Z"],
] as const)("of a contract that is %s nobody is told that it was over before, unless it was", (state, told) => {
  expect(overWords({ state, contract_id: "abc", ended: null, valid_until: 5_000 })).toBe(told);
});

function noted(near: readonly Miss[]): readonly string[] {
  const written: string[] = [];
  const sink = { write: (text: string | Uint8Array) => written.push(String(text)) > 0 };
  const terminal = new Terminal({ out: sink, err: sink, json: false, plain: true, debug: false, env: {} });
  noteMisses(terminal, near);
  return written.join("").trimEnd().split("\n");
}
