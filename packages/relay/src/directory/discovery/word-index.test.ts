import { expect, test } from "vitest";
import type { CapabilityText } from "./capability-text.ts";
import { WordIndex } from "./word-index.ts";

const nothing: CapabilityText = { name: "", tags: "", description: "", properties: "", examples: "" };

function indexOf(texts: Readonly<Record<string, Partial<CapabilityText>>>): WordIndex<string> {
  const index = new WordIndex<string>(100);
  for (const [name, parts] of Object.entries(texts)) index.add(name, { ...nothing, ...parts });
  return index;
}

const found = (index: WordIndex<string>, words: readonly string[], visits = 100) =>
  [...index.wanted(words).search(visits).scores].sort(([, a], [, b]) => b - a).map(([text]) => text);

test("a word in the name counts most, then in tags, description, fields and examples", () => {
  const index = indexOf({
    examples: { examples: "fish" },
    properties: { properties: "fish" },
    description: { description: "fish" },
    tags: { tags: "fish" },
    name: { name: "fish" },
    none: { name: "fowl" },
  });
  expect(found(index, ["fish"])).toEqual(["name", "tags", "description", "properties", "examples"]);
});

test("a rare word counts more than a common one", () => {
  const index = indexOf({
    a: { description: "work rare" },
    b: { description: "work plain" },
    c: { description: "work plain" },
  });
  expect(found(index, ["plain", "rare"])[0]).toBe("a");
});

test("what was removed is not found, and leaves nothing behind", () => {
  const index = indexOf({ a: { name: "fish" }, b: { name: "fish" } });
  index.remove("a", { ...nothing, name: "fish" });
  expect(found(index, ["fish"])).toEqual(["b"]);
  index.remove("b", { ...nothing, name: "fish" });
  expect(index.wanted(["fish"]).places).toBe(0);
});

test("a word that stands everywhere costs no more than is allowed, and finds the best places first", () => {
  const index = new WordIndex<string>(100);
  for (let nth = 0; nth < 5_000; nth += 1) index.add(`n-${nth}`, { ...nothing, description: "work" });
  index.add("named", { ...nothing, name: "work" });
  const { scores, is_whole } = index.wanted(["work"]).search(10);
  expect(scores.size).toBe(10);
  expect(is_whole).toBe(false);
  expect([...scores].sort(([, a], [, b]) => b - a)[0]?.[0]).toBe("named");
});

test("a text is scored by all words, also those whose places were not all visited", () => {
  const index = new WordIndex<string>(100);
  for (let nth = 0; nth < 100; nth += 1)
    index.add(`n-${nth}`, { ...nothing, name: nth < 60 ? "common other" : "common" });
  index.add("both", { ...nothing, name: "common rare" });
  const wanted = index.wanted(["common", "other", "rare"]);
  expect(wanted.search(30).scores.get("both")).toBeCloseTo(wanted.score("both"));
});

test("words that stand nearly everywhere tell nothing beside a rare one", () => {
  const index = new WordIndex<string>(100);
  for (let nth = 0; nth < 1_000; nth += 1) index.add(`n-${nth}`, { ...nothing, description: "about it" });
  index.add("rare", { ...nothing, description: "about fish" });
  expect(found(index, ["about", "fish"], 10_000)).toEqual(["rare"]);
});
