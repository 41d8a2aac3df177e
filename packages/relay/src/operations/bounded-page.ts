/**
 * Pages that end before their JSON grows too large: payloads of a megabyte, six bytes for each control character, would
 * otherwise make one reply of what no string can hold. Others go first while a large one is made.
 */

import { setImmediate } from "node:timers/promises";
import type { Handoff } from "@handfast/core";
import { limits } from "../limits.ts";

interface Listed {
  readonly handoffs: readonly Handoff[];
}

/** Awaited between two pieces of long work: lets others go first where it has gone on for a while. */
export function pauses(): () => Promise<void> {
  let began = performance.now();
  return async () => {
    if (performance.now() - began < limits.page_pause_after_ms) return;
    await setImmediate();
    began = performance.now();
  };
}

/**
 * The page, shortened until it fits. It is listed anew with the number that fits, because only the store knows the
 * cursor after them; what was made already and has not changed since is not made again.
 */
export async function boundedPage<P extends Listed>(
  first: P,
  list: (limit: number) => Promise<P>,
  /** Its JSON. */
  show: (handoff: Handoff) => string | Promise<string>,
  most_bytes: number = limits.reply_bytes,
): Promise<{ readonly page: P; readonly texts: readonly string[] }> {
  const made = new Map<string, string>();
  const pause = pauses();
  const textOf = async (handoff: Handoff) => {
    const key = `${handoff.accepted.id} ${handoff.version}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    const text = await show(handoff);
    made.set(key, text);
    await pause();
    return text;
  };
  let page = first;
  for (;;) {
    const texts = await upTo(page.handoffs, textOf, most_bytes);
    if (texts.length === page.handoffs.length) return { page, texts };
    page = await list(texts.length);
  }
}

/** As many of them, in order, as the limit lets in: always one, if there is one. */
async function upTo(
  handoffs: readonly Handoff[],
  textOf: (handoff: Handoff) => Promise<string>,
  most_bytes: number,
): Promise<readonly string[]> {
  const texts: string[] = [];
  let bytes = 0;
  for (const handoff of handoffs) {
    const text = await textOf(handoff);
    bytes += Buffer.byteLength(text);
    if (bytes > most_bytes && texts.length > 0) break;
    texts.push(text);
  }
  return texts;
}
