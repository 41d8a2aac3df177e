import fc from "fast-check";
import { expect, it } from "vitest";
import { Expiries } from "./expiries.ts";

it("gives the earliest first, each name once, whatever was set, moved and deleted before", () => {
  const step = fc.record({
    act: fc.constantFrom("set" as const, "set" as const, "delete" as const, "take" as const, "due" as const),
    name: fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h"),
    at: fc.integer({ min: 0, max: 50 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const expiries = new Expiries();
      const model = new Map<string, number>();
      const earliest = () => Math.min(...model.values());
      for (const { act, name, at } of steps) {
        if (act === "set") {
          expiries.set(name, at);
          model.set(name, at);
        } else if (act === "delete") {
          expiries.delete(name);
          model.delete(name);
        } else if (act === "due") {
          const due = [...model.values()].filter((each) => each <= at).sort((a, b) => a - b);
          expect(expiries.due(at, 3).map((each) => model.get(each))).toEqual(due.slice(0, 3));
        } else {
          const taken = expiries.take(at);
          if (taken === undefined) expect(earliest()).toBeGreaterThan(at);
          else expect(model.get(taken)).toBe(earliest());
          if (taken !== undefined) model.delete(taken);
        }
        expect(expiries.size).toBe(model.size);
        expect(expiries.earliest()).toBe(model.size === 0 ? undefined : earliest());
      }
    }),
  );
});
