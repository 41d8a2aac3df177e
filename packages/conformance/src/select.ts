/** Which checks are meant: by id, by what the ids of a section begin with, by page or by section. */

import { type Check, pageOf } from "./check.ts";

/** Throws what to type instead where a word means nothing. */
export function selectChecks(checks: readonly Check[], words: readonly string[]): readonly Check[] {
  if (words.length === 0) return checks;
  for (const word of words) {
    if (!checks.some((check) => isMeant(check, word))) {
      const prefixes = [...new Set(checks.map(({ id }) => prefixOf(id)))];
      throw new RangeError(`"${word}" means no promise; name an id such as FENCE-2, or one of ${prefixes.join(", ")}.`);
    }
  }
  return checks.filter((check) => words.some((word) => isMeant(check, word)));
}

function prefixOf(id: string): string {
  return id.slice(0, id.lastIndexOf("-"));
}

function isMeant(check: Check, word: string): boolean {
  const { id, section } = check;
  const upper = word.toUpperCase();
  return (
    id === upper ||
    prefixOf(id) === upper ||
    section === word ||
    pageOf(check).replace(".md", "") === word.replace(".md", "")
  );
}
