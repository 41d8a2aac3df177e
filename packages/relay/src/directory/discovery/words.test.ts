import { expect, test } from "vitest";
import { soughtWords, wordsOf } from "./words.ts";

test("words are in lower case, without punctuation, each once", () => {
  expect(wordsOf("Find, find; FIND the way!", 10)).toEqual(["find", "the", "way"]);
});

test("names of fields are taken apart, and found as they are written too", () => {
  expect(wordsOf("source_url maxPrice", 10)).toEqual(["source", "url", "max", "price", "maxprice"]);
});

test("plurals and their singular are one word", () => {
  expect(wordsOf("reports queries class", 10)).toEqual(["report", "query", "class"]);
});

test("other scripts have words too", () => {
  expect(wordsOf("Übersetzung naïve 翻訳 Ⅳ", 10)).toEqual(["übersetzung", "naïve", "翻訳", "iv"]);
});

test("no more words than asked for, and none that is too long to be looked for", () => {
  expect(wordsOf(`a b c ${"x".repeat(41)}`, 2)).toEqual(["a", "b"]);
  expect(wordsOf("x".repeat(41), 2)).toEqual([]);
});

test("what tells nothing is not looked for, unless there is nothing else", () => {
  expect(soughtWords("translate into the German", 9)).toEqual(["translate", "german"]);
  expect(soughtWords("to be or", 9)).toEqual(["be"]);
  expect(soughtWords("to", 9)).toEqual(["to"]);
});
