import { expect, it } from "vitest";
import { LinearPattern } from "../../linear-pattern.ts";
import { MeterSlot } from "../../meter.ts";
import { stringsMatching } from "./pattern-strings.ts";

let drawn = 0;
const random = () => (drawn = (drawn * 0.7 + 0.31) % 1);

it.each([
  "^[a-z]+$",
  "^[0-9a-f]{8}-[0-9a-f]{4}$",
  "^(GET|POST|PUT)$",
  "^[A-Z][a-z]*(, [A-Z][a-z]*)*$",
  "^\\d{4}-\\d{2}-\\d{2}$",
  "^[^@\\s]+@[^@\\s]+\\.[a-z]{2,}$",
  "^x-.*",
  "^https?://",
  "^(?:a|b)c?$",
  "[+\\-*/]",
  "\\u0041|b",
])("%s is matched by all of its strings", (source) => {
  const strings = stringsMatching(source, random, 20, 100);
  const pattern = new LinearPattern(source, new MeterSlot());
  expect(strings.filter((text) => !pattern.test(text))).toEqual([]);
  if (!source.includes("\\u")) expect(strings.length).toBeGreaterThan(0);
});

it("starts with the shortest", () => {
  expect(stringsMatching("^a*b{2,5}$", random, 3, 100)[0]).toBe("bb");
});

it.each(["(?=a)b", "a{,3}b{", "[", "(", "a**", "\\p{L}", "(?<name>a)"])(
  "gives none for %s, which is not simple",
  (source) => {
    expect(stringsMatching(source, random, 5, 100)).toEqual([]);
  },
);

it("gives none that are too long", () => {
  expect(stringsMatching("^(a{30}){30}$", random, 5, 100)).toEqual([]);
});
