/**
 * A list that entries come into and leave by being dealt with (outcomes by being taken, questions by being answered),
 * as a stream: each entry once, and then those that come. The relay's order is that of the handoffs' acceptance, so a
 * newcomer can stand anywhere: the list is read from its beginning each time. The mark that came with it lets the next
 * call wait until something has come into it since, whatever else still stays in it.
 */

import type { HandoffView, ProposalCall, QuestionView } from "@handfast/protocol/wire";
import type { Base } from "../base.ts";
import type { CallOptions } from "../link/link.ts";
import { pause } from "../link/persist.ts";
import { sendLimits } from "./limits.ts";

interface Page<Entry> {
  readonly entries: readonly Entry[];
  readonly cursor: string | null;
  readonly mark: string;
}

type Query = { readonly limit: number; readonly cursor?: string; readonly since?: string };
type List<Entry> = (query: Query, options: CallOptions) => Promise<Page<Entry>>;

export function untaken(
  base: Base,
  follow: boolean,
  signal: AbortSignal,
): AsyncGenerator<HandoffView, void, undefined> {
  const list: List<HandoffView> = async (query, options) => {
    const { handoffs, ...page } = await base.link.call("outcomes", { query }, options);
    return { entries: handoffs, ...page };
  };
  return newcomers(base, list, follow, signal);
}

export function openQuestions(
  base: Base,
  follow: boolean,
  signal: AbortSignal,
): AsyncGenerator<QuestionView, void, undefined> {
  const list: List<QuestionView> = async (query, options) => {
    const { questions, ...page } = await base.link.call("questions", { query }, options);
    return { entries: questions, ...page };
  };
  return newcomers(base, list, follow, signal);
}

/** Calls for proposals that are put to this agent; for as long as the signal lets it. All of them fit on one page. */
export function openCalls(base: Base, signal: AbortSignal): AsyncGenerator<ProposalCall, void, undefined> {
  const list: List<ProposalCall> = async ({ since }, options) => {
    const query = since === undefined ? {} : { since };
    const { proposals, mark } = await base.link.call("proposals", { query }, options);
    return { entries: proposals, cursor: null, mark };
  };
  return newcomers(base, list, true, signal);
}

async function* newcomers<Entry extends { readonly id: string }>(
  base: Base,
  list: List<Entry>,
  follow: boolean,
  signal: AbortSignal,
): AsyncGenerator<Entry, void, undefined> {
  let known = new Set<string>();
  let since: string | null = null;
  let pause_ms: number = sendLimits.pause_least_ms;
  for (;;) {
    const asked_at = base.surroundings.now();
    const listed = new Set<string>();
    let is_news = false;
    let mark: string | null = null;
    for await (const page of pages(list, follow, since, signal)) {
      mark ??= page.mark;
      for (const entry of page.entries) {
        listed.add(entry.id);
        if (known.has(entry.id)) continue;
        known.add(entry.id);
        is_news = true;
        yield entry;
      }
    }
    if (!follow) return;
    // Kept as short as the list: what is no longer in it never comes back.
    known = listed;
    since = mark;
    pause_ms = is_news ? sendLimits.pause_least_ms : Math.min(pause_ms * 2, sendLimits.pause_most_ms);
    // A relay whose marks never last must not be asked without a pause.
    const hasWaited = base.surroundings.now() - asked_at >= sendLimits.pause_least_ms;
    if (!is_news && !hasWaited) await pause(base.surroundings, pause_ms, signal);
  }
}

/**
 * The whole list once, page by page. Whoever follows waits for what may come in a year: a relay that is away is waited
 * for as long.
 */
async function* pages<Entry>(
  list: List<Entry>,
  follow: boolean,
  since: string | null,
  signal: AbortSignal,
): AsyncGenerator<Page<Entry>, void, undefined> {
  const patience = follow ? { patience_ms: Number.POSITIVE_INFINITY } : {};
  const wait = follow ? { wait_ms: sendLimits.wait_ms } : {};
  const known = since === null ? {} : { since };
  let page = await list({ limit: sendLimits.page, ...known }, { signal, ...wait, ...patience });
  yield page;
  while (page.cursor !== null) {
    page = await list({ limit: sendLimits.page, cursor: page.cursor }, { signal, ...patience });
    yield page;
  }
}
