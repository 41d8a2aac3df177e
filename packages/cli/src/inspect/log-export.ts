/**
 * The log in spans of time, one call for each, so that neither side ever holds all of it and it can be told how far the
 * export is. A span that turns out too large for one answer is halved; small ones grow again.
 */

import type { Operations } from "@handfast/protocol/wire";
import { codeOf, type Reader } from "./relay-reads.ts";

type Filter = Omit<Operations["log"]["query"], "from" | "until" | "cursor">;

interface Span {
  /** Milliseconds since 1970; missing: from the first event. */
  readonly from?: number;
  /** Null: up to what is there. */
  readonly until: number | null;
  readonly now: number;
}

interface Piece {
  readonly text: string;
  /** Of the time that is exported, how much is done: from 0 to 1. */
  readonly share: number;
}

const span_first_ms = 60 * 60_000;
const text_wanted_chars = 1_000_000;
/** The relay's clock may be ahead of ours: what it wrote by now must not be missed. */
const ahead_ms = 60_000;

export async function* exportLog(
  relay: Reader,
  filter: Filter,
  { from, until, now }: Span,
  signal: AbortSignal,
): AsyncGenerator<Piece> {
  const end = until ?? now + ahead_ms;
  const kept = from ?? (await oldest(relay)) ?? end;
  const total_ms = Math.max(1, end - kept);
  // What retention has purged left events before the oldest handoff that is kept: they are the first span.
  let start = from ?? 0;
  let span_ms = from === undefined ? Math.max(1, kept - start) : span_first_ms;
  while (start <= end) {
    const last = Math.min(end, start + span_ms - 1);
    const text = await read(relay, { ...filter, from: start, until: last }, signal);
    if (text === null) {
      span_ms = Math.max(1, Math.floor((last - start + 1) / 2));
      continue;
    }
    start = last + 1;
    yield { text, share: Math.min(1, Math.max(0, start - kept) / total_ms) };
    span_ms = start <= kept ? span_first_ms : Math.max(1, span_ms * (text.length < text_wanted_chars ? 2 : 0.5));
    span_ms = Math.ceil(span_ms);
  }
}

/** Null: too large for one answer. */
async function read(relay: Reader, query: Operations["log"]["query"], signal: AbortSignal): Promise<string | null> {
  try {
    return await relay.call("log", { query }, { signal });
  } catch (error) {
    const isOneMoment = query.from === query.until;
    if (codeOf(error) === 413 && !isOneMoment) return null;
    throw error;
  }
}

async function oldest(relay: Reader): Promise<number | null> {
  const { handoffs } = await relay.call("list", { query: { order: "oldest", limit: 1 } });
  return handoffs[0]?.accepted_at ?? null;
}
