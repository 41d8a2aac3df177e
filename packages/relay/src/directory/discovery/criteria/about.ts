/** What it is about: at least one of the words that are asked for stands in its text. */

import type { RelayLimits } from "../../../limits.ts";
import { type CapabilityText, capabilityText, textFields } from "../capability-text.ts";
import { type Criterion, type Looked, listed } from "../criterion.ts";
import { wordsOf } from "../words.ts";

/** More than these are not read out. */
const words_told = 5;

const partNames: Readonly<Record<keyof CapabilityText, string>> = {
  name: "its name",
  tags: "its tags",
  description: "its description",
  properties: "the names in its schemas",
  examples: "its examples",
};

export function aboutCriteria(words: readonly string[], limits: RelayLimits): readonly Criterion<Looked>[] {
  if (words.length === 0) return [];
  return [
    {
      distance: 2,
      meets: ({ text }) => text > 0,
      why: ({ entry }) => foundWords(words, capabilityText(entry.capability, limits), limits.discovery_words_per_part),
      lacks: () => `It says nothing of ${listed(words.slice(0, words_told))}.`,
    },
  ];
}

/** Each word where it tells most, and which are nowhere. */
function foundWords(words: readonly string[], text: CapabilityText, most_words: number): string {
  const sentences: string[] = [];
  const open = new Set(words);
  for (const part of textFields) {
    const has = new Set(wordsOf(text[part], most_words));
    const found = [...open].filter((word) => has.has(word));
    for (const word of found) open.delete(word);
    if (found.length > 0)
      sentences.push(
        `${partNames[part]} ${part === "name" || part === "description" ? "has" : "have"} ${listed(found.slice(0, words_told))}`,
      );
  }
  const told = sentences.join("; ");
  const missing = open.size === 0 ? "" : ` It says nothing of ${listed([...open].slice(0, words_told))}.`;
  return `${told.slice(0, 1).toUpperCase()}${told.slice(1)}.${missing}`;
}
