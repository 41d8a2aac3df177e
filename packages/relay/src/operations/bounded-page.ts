/**
 * Pages that end before their JSON grows too large: payloads of a megabyte, six bytes for each control character, would
 * otherwise make one reply of what no string can hold.
 */

import type { Handoff } from "@handfast/core";
import { limits } from "../limits.ts";

/** As many items, in order, as the limit lets in, each as JSON: always one, if there is one. */
async function renderUpTo<T>(
  items: Iterable<T>,
  show: (item: T) => unknown,
  most_bytes: number,
): Promise<readonly string[]> {
  const texts: string[] = [];
  let bytes = 0;
  for (const item of items) {
    const text = JSON.stringify(await show(item));
    bytes += Buffer.byteLength(text);
    if (bytes > most_bytes && texts.length > 0) break;
    texts.push(text);
  }
  return texts;
}

interface Listed {
  readonly handoffs: readonly Handoff[];
}

/**
 * The page, shortened until it fits. It is listed anew with the number that fits, because only the store knows the
 * cursor after them.
 */
export async function boundedPage<P extends Listed>(
  first: P,
  list: (limit: number) => Promise<P>,
  show: (handoff: Handoff) => unknown,
  most_bytes: number = limits.reply_bytes,
): Promise<{ readonly page: P; readonly texts: readonly string[] }> {
  let page = first;
  for (;;) {
    const texts = await renderUpTo(page.handoffs, show, most_bytes);
    if (texts.length === page.handoffs.length) return { page, texts };
    page = await list(texts.length);
  }
}
