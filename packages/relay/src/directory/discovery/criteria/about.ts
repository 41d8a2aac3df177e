/** What it is about: at least one of the words that are asked for stands in its text. */

import type { RelayLimits } from "../../../limits.ts";
import { type CapabilityText, capabilityText, textFields } from "../capability-text.ts";
import { type Criterion, type Looked, listed } from "../criterion.ts";
import { word_chars, wordsAsWritten, wordsOf } from "../words.ts";

/** More than these are not read out. */
const words_told = 5;

const partNames: Readonly<Record<keyof CapabilityText, string>> = {
  name: "its name",
  tags: "its tags",
  description: "its description",
  properties: "the names in its schemas",
  examples: "its examples",
};

/** `asked`: the text that the words are from. */
export function aboutCriteria(
  words: readonly string[],
  asked: string,
  limits: RelayLimits,
): readonly Criterion<Looked>[] {
  if (words.length === 0) return [];
  const written = wordsAsWritten(asked, limits.discovery_words);
  const nothingOf = (missing: Iterable<string>) => {
    if (written.size === 0)
      return `Nothing is found by ${listed(words)}: a word is of 1 to ${word_chars} letters and digits.`;
    const told = Array.from(missing, (word) => written.get(word) ?? word).slice(0, words_told);
    return `It says nothing of ${listed(told)}.`;
  };
  return [
    {
      distance: 2,
      meets: ({ text }) => text > 0,
      why: ({ entry }) => {
        const text = capabilityText(entry.capability, limits);
        const { told, open } = foundWords(words, text, limits.discovery_words_per_part);
        return open.size === 0 ? told : `${told} ${nothingOf(open)}`;
      },
      lacks: () => nothingOf(words),
    },
  ];
}

/** Each word where it tells most, and which are nowhere. */
function foundWords(
  words: readonly string[],
  text: CapabilityText,
  most_words: number,
): { readonly told: string; readonly open: ReadonlySet<string> } {
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
  return { told: `${told.slice(0, 1).toUpperCase()}${told.slice(1)}.`, open };
}
