/** The known word nearest to a mistyped one, as a question, if any is near. */

import { nearestWord } from "@handfast/protocol/client";

export function didYouMean(word: string, known: readonly string[]): string {
  const near = nearestWord(word, known);
  return near === undefined ? "" : ` Did you mean ${near}?`;
}
