/** The words of a text as they are indexed and searched for: in lower case, without punctuation, singular. */

/** A word that is longer is nobody's search. */
export const word_chars = 40;

/** Distinct, in the order they come; at most so many. */
export function wordsOf(text: string, most: number): readonly string[] {
  return [...wordsAsWritten(text, most).keys()];
}

/** The same words, each with how it is written there: people are told of `this`, not of `thi`. */
export function wordsAsWritten(text: string, most: number): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  for (const part of partsOf(text)) {
    for (const word of /[a-z][A-Z]|[0-9][A-Z]/.test(part) || !isPlain(part) ? humps(part) : [part]) {
      if (words.size >= most) return words;
      if (word.length > word_chars) continue;
      const written = word.toLowerCase();
      const sought = singular(written);
      if (!words.has(sought)) words.set(sought, written);
    }
  }
  return words;
}

/** Words that every text has and nobody looks for. */
const function_words = new Set("a an and as at by for from in into it of on or the to with".split(" "));

/**
 * What somebody looks for: without the words that tell nothing, unless there are no others. Text without any word that is indexed is
 * looked for as it is, and found nowhere: it is not as if nothing had been asked for.
 */
export function soughtWords(text: string, most: number): readonly string[] {
  const words = wordsOf(text, most);
  const asked = text.trim();
  if (words.length === 0 && asked !== "") return [asked];
  const telling = words.filter((word) => !function_words.has(word));
  return telling.length === 0 ? words : telling;
}

/** Most texts are of plain letters, which need no tables of Unicode: half the time. */
function partsOf(text: string): readonly string[] {
  if (isPlain(text)) return text.match(/[A-Za-z0-9]+/g) ?? [];
  return text.normalize("NFKC").match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

function isPlain(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all that is ASCII, control characters too.
  return /^[\x00-\x7f]*$/.test(text);
}

/** `sourceUrl` is found by either word, and as it is written. */
function humps(text: string): readonly string[] {
  const parts = text.split(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u);
  return parts.length === 1 ? parts : [...parts, text];
}

/** Only the plainest of plurals: whoever asks for sources means a source too. */
function singular(word: string): string {
  if (!/^[a-z]{4,}$/.test(word) || !word.endsWith("s") || word.endsWith("ss")) return word;
  return word.endsWith("ies") ? `${word.slice(0, -3)}y` : word.slice(0, -1);
}
