import { expect, test } from "vitest";
import { Options } from "../options.ts";
import { acceptingLine } from "./accepting.ts";

const typed = new Options(
  new Map<string, unknown>([
    ["deadline", "2m"],
    ["input", '{"say": "it\'s"}'],
    ["tag", ["text"]],
    ["live", true],
    ["max-cost", "900"],
    ["to", ["lexicon", "other"]],
  ]),
);

const capability = { name: "translate" };

test("the line that agrees repeats what was typed, and names the agent and its price", () => {
  const line = acceptingLine(typed, { agent_id: "lexicon", capability, cost: { amount: 250, per: "handoff" } });
  const said = `--input '{"say": "it'\\''s"}' --deadline 2m --tag text --live`;
  expect(line).toBe(`handfast negotiate translate ${said} --to lexicon --max-cost 250 --accept`);
});

test("where the offer has no price of a handoff, the one that was typed stays", () => {
  const offer = { agent_id: "lexicon", capability, cost: null };
  expect(acceptingLine(typed, offer)).toMatch(/--to lexicon --max-cost 900 --accept$/);
  expect(acceptingLine(new Options(new Map()), offer)).toBe("handfast negotiate translate --to lexicon --accept");
});
