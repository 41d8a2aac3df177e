import { describe, expect, it } from "vitest";
import type { Transport } from "../check.ts";
import type { Tried } from "../run/verdict.ts";
import { renderTryout, type Tryout, tryoutJson } from "./try-mutant.ts";

function broken(id: string, transport: Transport, expected: string): Tried {
  const check = { id, promise: "It holds.", section: "handoffs.md#states", run: async () => undefined };
  return {
    check,
    transport,
    verdict: { outcome: "broken", took_ms: 1, failure: { expected, got: "", exchanges: [] } },
  };
}

const tryout: Tryout = {
  mutant: { name: "a-mutant", breaks: "Something.", killed_by: ["FENCE-1"], edits: [] },
  broken: [broken("FENCE-1", "http", "this"), broken("FENCE-1", "websocket", "this"), broken("WORK-1", "http", "that")],
  blind: [],
  took_ms: 1_234,
};

describe("a mutant that was tried", () => {
  it("is told with everybody who noticed, and each by what", () => {
    expect(renderTryout(tryout)).toBe(
      `✓ a-mutant                                 1.2 s  FENCE-1: this\n${" ".repeat(50)}WORK-1: that`,
    );
  });

  it("is told with who did not notice it", () => {
    expect(renderTryout({ ...tryout, broken: [], blind: ["FENCE-1"] })).toMatch(/^✗ .* not noticed by FENCE-1$/);
  });

  it("is told to programs", () => {
    expect(tryoutJson(tryout)).toMatchObject({
      name: "a-mutant",
      noticed: true,
      noticed_by: [
        { id: "FENCE-1", expected: "this" },
        { id: "WORK-1", expected: "that" },
      ],
    });
  });
});
