import { expect, it } from "vitest";
import { shrink } from "./shrink.ts";

function shrunk(value: unknown, stays: (value: unknown) => boolean, tries = 1_000): unknown {
  let smallest = value;
  shrink(
    value,
    (smaller) => {
      if (stays(smaller)) smallest = smaller;
      return stays(smaller);
    },
    tries,
  );
  return smallest;
}

it("leaves out what does not matter", () => {
  const value = { a: [1, 2, { b: "long", c: null }], d: "e" };
  expect(shrunk(value, (each) => JSON.stringify(each).includes("null"))).toEqual({ a: [{ c: null }] });
});

it.each<[unknown, (value: unknown) => boolean, unknown]>([
  ["abcdef", (value) => typeof value === "string", ""],
  ["abcdef", (value) => String(value).includes("d"), "d"],
  ["\u{1f600}\u{1f600}a", (value) => String(value).includes("\u{1f600}"), "\u{1f600}"],
  [-7.5, (value) => typeof value === "number", 0],
  [7.5, (value) => Number(value) > 1, 7],
  [[3, 3, 3, 3], (value) => Array.isArray(value) && value.length >= 2, [0, 0]],
  [null, () => true, null],
])("%j becomes as small as it can", (value, stays, smallest) => {
  expect(shrunk(value, stays)).toEqual(smallest);
});

it("gives up after so many tries", () => {
  let asked = 0;
  shrink(
    "a".repeat(50),
    () => {
      asked++;
      return false;
    },
    3,
  );
  expect(asked).toBe(3);
});
