/**
 * A list that entries come into and leave by being dealt with (outcomes by being taken, questions by being answered),
 * as a stream: each entry once, and then those that come. The relay's order is that of the handoffs' acceptance, so a
 * newcomer can stand anywhere: the list is read from its beginning each time. While it is empty one call waits for the
 * next entry. While something stays in it a wait would be answered at once, so there the list is looked at again after a
 * pause, which grows while nothing is new.
 */

import type { HandoffView, QuestionView } from "@handfast/protocol/wire";
import type { Base } from "../base.ts";
import type { CallOptions } from "../link/link.ts";
import { pause } from "../link/persist.ts";
import { sendLimits } from "./limits.ts";

interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly cursor: string | null;
}

type Query = { readonly limit: number; readonly cursor?: string };
type List<Entry> = (query: Query, options: CallOptions) => Promise<Page<Entry>>;

export function untaken(
  base: Base,
  follow: boolean,
  signal: AbortSignal,
): AsyncGenerator<HandoffView, void, undefined> {
  const list: List<HandoffView> = async (query, options) => {
    const { handoffs, cursor } = await base.link.call("outcomes", { query }, options);
    return { entries: handoffs, cursor };
  };
  return newcomers(base, list, follow, signal);
}

export function openQuestions(
  base: Base,
  follow: boolean,
  signal: AbortSignal,
): AsyncGenerator<QuestionView, void, undefined> {
  const list: List<QuestionView> = async (query, options) => {
    const { questions, cursor } = await base.link.call("questions", { query }, options);
    return { entries: questions, cursor };
  };
  return newcomers(base, list, follow, signal);
}

async function* newcomers<Entry extends { readonly id: string }>(
  base: Base,
  list: List<Entry>,
  follow: boolean,
  signal: AbortSignal,
): AsyncGenerator<Entry, void, undefined> {
  let known = new Set<string>();
  let pause_ms: number = sendLimits.pause_least_ms;
  for (;;) {
    const listed = new Set<string>();
    let is_news = false;
    for await (const entry of scan(list, follow, follow && known.size === 0, signal)) {
      listed.add(entry.id);
      if (known.has(entry.id)) continue;
      known.add(entry.id);
      is_news = true;
      yield entry;
    }
    if (!follow) return;
    // Kept as short as the list: what is no longer in it never comes back.
    known = listed;
    pause_ms = is_news ? sendLimits.pause_least_ms : Math.min(pause_ms * 2, sendLimits.pause_most_ms);
    // What was news may have been dealt with by now: then the next look may wait for more.
    if (!is_news && known.size > 0) await pause(base.surroundings, pause_ms, signal);
  }
}

/**
 * The whole list once, page by page; waiting for its first entry, if asked to. Whoever follows waits for what may come in
 * a year: a relay that is away is waited for as long.
 */
async function* scan<Entry>(
  list: List<Entry>,
  follow: boolean,
  waits: boolean,
  signal: AbortSignal,
): AsyncGenerator<Entry, void, undefined> {
  let cursor: string | null = null;
  do {
    const wait = waits && cursor === null ? { wait_ms: sendLimits.wait_ms } : {};
    const patience = follow ? { patience_ms: Number.POSITIVE_INFINITY } : {};
    const query: Query = { limit: sendLimits.page, ...(cursor === null ? {} : { cursor }) };
    const page: Page<Entry> = await list(query, { signal, ...wait, ...patience });
    yield* page.entries;
    cursor = page.cursor;
  } while (cursor !== null);
}
