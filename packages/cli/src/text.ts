/** Text from others, and its width on a terminal. */

import { stripVTControlCharacters } from "node:util";

/** Control characters could move the cursor, retitle the window or worse; line ends and tabs stay. */
export function cleanText(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, (found) =>
    found === "\n" || found === "\t" ? found : "",
  );
}

/** JSON leaves some characters as they are that a terminal would obey; as escapes they say the same. */
export function safeJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replaceAll(
    /[\u007f-\u009f\p{Bidi_Control}]/gu,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** For notes and names in the middle of a line. */
export function cleanLine(text: string): string {
  return cleanText(text).replaceAll(/\s+/g, " ").trim();
}

const segments = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** How many cells it takes, without styles; wide letters and pictures take two. */
export function width(text: string): number {
  let cells = 0;
  for (const { segment } of segments.segment(stripVTControlCharacters(text))) {
    cells +=
      /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|^\p{Emoji_Presentation}/u.test(
        segment,
      )
        ? 2
        : 1;
  }
  return cells;
}

/** At most so many cells, with … where something is missing. Styles are kept only where all fits. */
export function cut(text: string, cells: number): string {
  if (width(text) <= cells) return text;
  let kept = "";
  let used = 1;
  for (const { segment } of segments.segment(stripVTControlCharacters(text))) {
    used += width(segment);
    if (used > cells) break;
    kept += segment;
  }
  return `${kept}…`;
}
