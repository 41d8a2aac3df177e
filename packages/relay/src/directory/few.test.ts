import { array, assert, constantFrom, property, record } from "fast-check";
import { expect, test } from "vitest";
import { Few } from "./few.ts";

test("is a set, whatever is added and deleted", () => {
  const step = record({ act: constantFrom("add", "delete"), item: constantFrom("one", "two", "three") });
  assert(
    property(array(step), (steps) => {
      const [few, set] = [new Few<string>(), new Set<string>()];
      for (const { act, item } of steps) {
        if (act === "add") {
          few.add(item);
          set.add(item);
        } else expect(few.delete(item)).toBe(set.delete(item));
        expect([...few]).toEqual([...set]);
        expect([few.size, few.has(item)]).toEqual([set.size, set.has(item)]);
      }
    }),
  );
});
