import { describe, expect, it } from "vitest";
import type { Check } from "./check.ts";
import { selectChecks } from "./select.ts";

function check(id: string, section: string): Check {
  return { id, promise: "It holds.", section, run: async () => undefined };
}

const checks = [
  check("FENCE-1", "ids.md#fences"),
  check("FENCE-2", "ids.md#fences"),
  check("KEEP-1", "events.md#retention"),
];
const ids = (...words: string[]) => selectChecks(checks, words).map(({ id }) => id);

describe("selecting checks", () => {
  it("takes all where nothing is named", () => expect(ids()).toEqual(["FENCE-1", "FENCE-2", "KEEP-1"]));

  it("takes an id, in whatever case", () => expect(ids("fence-2")).toEqual(["FENCE-2"]));

  it("takes all whose ids begin alike, a page, or a section", () => {
    expect(ids("FENCE")).toEqual(["FENCE-1", "FENCE-2"]);
    expect(ids("events")).toEqual(["KEEP-1"]);
    expect(ids("ids.md")).toEqual(["FENCE-1", "FENCE-2"]);
    expect(ids("events.md#retention", "FENCE-1")).toEqual(["FENCE-1", "KEEP-1"]);
  });

  it("says what there is where a word means nothing", () => {
    expect(() => ids("FENCE-9")).toThrow(/"FENCE-9" means no promise.*FENCE, KEEP/);
  });
});
