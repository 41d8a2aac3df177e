/** Following what happens: events of one handoff or of a whole correlation, as pages or as a stream. */

import type { EventPage, StoredEvent } from "@handfast/engine";
import { type EventView, event_page, event_query } from "@handfast/protocol/wire";
import type { IsRival } from "../directory/directory.ts";
import type { Caller } from "../identity/caller.ts";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { makeCursor, readPosition } from "./cursor.ts";
import { correlationSource, handoffSource, type Source } from "./event-source.ts";
import { json, operation, type Reply, type StreamEvent } from "./operation.ts";
import { rivalry } from "./parties.ts";
import { badCursor, correlationParams, idParams } from "./read.ts";
import type { Relay } from "./relay.ts";
import { handoffJson } from "./view.ts";
import { readUntil, rest, Watch } from "./watch.ts";

export const handoffEvents = operation(
  {
    name: "handoff_events",
    method: "GET",
    path: "/v1/handoffs/{id}/events",
    tag: "handoffs",
    access: "caller",
    summary: "What happened to a handoff, in order. As a stream it goes on until the end.",
    params: idParams,
    query: event_query,
    waits: true,
    streams: true,
    replies: { 200: event_page },
    problems: [404, 410],
  },
  async ({ relay, caller, params, query, wait_ms, signal, request, room }) => {
    const open = () => handoffSource(relay, caller, params.id);
    return follow(relay, caller, open, query, request, wait_ms, signal, room);
  },
);

export const correlationEvents = operation(
  {
    name: "correlation_events",
    method: "GET",
    path: "/v1/correlations/{id}/events",
    tag: "handoffs",
    access: "caller",
    summary: "What happened in a correlation, in the log's order. As a stream it goes on until everything has ended.",
    params: correlationParams,
    query: event_query,
    waits: true,
    streams: true,
    replies: { 200: event_page },
    problems: [404, 410],
  },
  async ({ relay, caller, params, query, wait_ms, signal, request, room }) => {
    const open = () => correlationSource(relay, caller, params.id);
    return follow(relay, caller, open, query, request, wait_ms, signal, room);
  },
);

async function follow(
  relay: Relay,
  caller: Caller,
  open: () => Promise<Source>,
  { cursor, limit = limits.page_size_default }: { readonly cursor?: string; readonly limit?: number },
  request: { readonly last_event_id: string | null; readonly wants_stream: boolean },
  wait_ms: number,
  signal: AbortSignal,
  room: (bytes: number) => Promise<void>,
): Promise<Reply> {
  const { namespace } = caller;
  const asked = request.last_event_id ?? cursor;
  const after_pos = asked === undefined ? 0 : readPosition(asked);
  if (after_pos === null) throw badCursor();
  // The log's head is read first: whatever changes after the source was opened is then an event after the cursor.
  const first = await relay.store.events({ namespace, after_pos, limit: 1 });
  if (after_pos > Math.max(first.head, first.floor)) throw badCursor();
  const source = await open();
  if (asked !== undefined && after_pos < first.floor) throw await tooOld(source, first, rivalry(relay, caller));
  if (request.wants_stream) return { kind: "events", events: stream(relay, source, after_pos, signal) };
  // Whoever does not wait for an event keeps none in memory while it waits for room.
  if (wait_ms === 0) await room(limit * limits.record_bytes);
  const read = () => pageOf(relay, source, after_pos, limit);
  const isReady = (page: Page) => page.events.length > 0 || page.ended;
  const { wakeups } = relay.engine;
  const page = await readUntil(wakeups, [source.key], wait_ms, signal, read, isReady, { pause_ms: source.gather_ms });
  await room(page.events.length * limits.record_bytes);
  return json({ events: page.events, cursor: makeCursor("event", page.after_pos), ended: page.ended });
}

async function tooOld(source: Source, { head }: EventPage, isRival: IsRival): Promise<Problem> {
  const snapshot = (await source.snapshot()).map((handoff) => JSON.parse(handoffJson(handoff, isRival)));
  const extra = { cursor: makeCursor("event", head), snapshot };
  return new Problem(
    410,
    "cursor_too_old",
    "Events after this cursor are gone; go on from the cursor given here.",
    extra,
  );
}

type Page = Awaited<ReturnType<typeof pageOf>>;

async function pageOf(relay: Relay, source: Source, after_pos: number, limit: number) {
  const { events: stored } = await relay.store.events({ ...source.query, after_pos, limit });
  const events = await source.notice(stored.map(showEvent));
  const is_full = stored.length === limit;
  return { events, after_pos: stored.at(-1)?.pos ?? after_pos, ended: source.ended() && !is_full, is_full };
}

export function showEvent({ pos, json: text }: StoredEvent): EventView {
  return { ...(JSON.parse(text) as Omit<EventView, "pos">), pos };
}

async function* stream(relay: Relay, source: Source, from: number, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  const { surroundings } = relay.engine.wakeups;
  const watch = new Watch(relay.engine.wakeups, [source.key], signal);
  let after_pos = from;
  let progress_at = 0;
  try {
    while (!signal.aborted) {
      const began = surroundings.now();
      const page = await pageOf(relay, source, after_pos, limits.page_size_default);
      for (const event of page.events) {
        yield { event: event.type, id: makeCursor("event", event.pos), data: event };
      }
      after_pos = page.after_pos;
      const looks = began >= progress_at;
      if (looks) yield* await source.progress();
      if (looks) progress_at = began + source.progress_ms;
      if (page.ended) return yield { event: "end", data: await source.end() };
      if (page.is_full) continue;
      // What woke it may have been progress that it is not yet time to look at.
      await watch.next(looks ? limits.sse_keep_alive_ms : Math.max(1, progress_at - surroundings.now()));
      await rest(surroundings, source.gather_ms - (surroundings.now() - began), signal);
    }
  } finally {
    watch.close();
  }
}
