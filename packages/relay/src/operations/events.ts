/** Following what happens: events of one handoff or of a whole correlation, as pages or as a stream. */

import { type Handoff, hasEnded } from "@handfast/core";
import { type EventPage, type EventQuery, type StoredEvent, wakeKey } from "@handfast/engine";
import type { Caller } from "../identity/caller.ts";
import { limits } from "../limits.ts";
import { Problem } from "../problem.ts";
import { type EventView, event_page } from "../wire/events.ts";
import { event_query } from "../wire/list.ts";
import { makeCursor, readPosition } from "./cursor.ts";
import { json, operation, type Reply, type StreamEvent } from "./operation.ts";
import { maySee, seen } from "./parties.ts";
import { badCursor, correlationOf, correlationParams, idParams, unknownCorrelation } from "./read.ts";
import type { Relay } from "./relay.ts";
import { codeOf, showHandoff } from "./view.ts";
import { readUntil, Watch } from "./watch.ts";

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
  async ({ relay, caller, params, query, wait_ms, signal, request }) => {
    const source = await handoffSource(relay, caller, params.id);
    return follow(relay, source, query, request, wait_ms, signal);
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
  async ({ relay, caller, params, query, wait_ms, signal, request }) => {
    const source = await correlationSource(relay, caller, params.id);
    return follow(relay, source, query, request, wait_ms, signal);
  },
);

/** What is followed. Everything is read from the store; being woken only means to look again. */
interface Source {
  readonly key: string;
  readonly query: Pick<EventQuery, "namespace" | "handoff" | "correlation_id">;
  /** Which of these events the caller may see. */
  readonly visible: (events: readonly EventView[]) => Promise<readonly EventView[]>;
  /** Everything followed has ended. To be asked before the events are read, so that none is missed. */
  readonly ended: () => Promise<boolean>;
  readonly snapshot: () => Promise<readonly Handoff[]>;
  /** Progress that is not in the log, since the last call. */
  readonly progress: () => Promise<readonly StreamEvent[]>;
  readonly end: () => Promise<unknown>;
}

async function handoffSource(relay: Relay, caller: Caller, id: string): Promise<Source> {
  const { namespace } = caller;
  const get = () => seen(relay, caller, id);
  await get();
  const progress = new ProgressTeller();
  return {
    key: wakeKey.handoff(namespace, id),
    query: { namespace, handoff: id },
    visible: async (events) => events,
    ended: async () => hasEnded((await get()).status),
    snapshot: async () => [await get()],
    progress: async () => progress.tell(await get()),
    end: async () => {
      const handoff = await get();
      return { id, state: handoff.status.state, code: codeOf(handoff) };
    },
  };
}

async function correlationSource(relay: Relay, caller: Caller, correlation_id: string): Promise<Source> {
  const { namespace } = caller;
  const first = await correlationOf(relay, caller, correlation_id);
  if (first.handoffs.length === 0) throw unknownCorrelation(correlation_id);
  const known = new Map(first.handoffs.map((handoff) => [handoff.accepted.id, handoff]));
  const refresh = async (id: string) => {
    const handoff = await relay.engine.get(namespace, id);
    if (handoff === null || !maySee(handoff, caller)) known.delete(id);
    else known.set(id, handoff);
    return handoff;
  };
  const open = () => [...known.values()].filter(({ status }) => !hasEnded(status));
  const progress = new ProgressTeller();
  return {
    key: wakeKey.correlation(namespace, correlation_id),
    query: { namespace, correlation_id },
    visible: async (events) => {
      for (const id of new Set(events.map(({ handoff }) => handoff))) {
        const had = known.get(id);
        if (had === undefined || !hasEnded(had.status)) await refresh(id);
      }
      return events.filter(({ handoff }) => known.has(handoff));
    },
    ended: async () => {
      for (const { accepted } of open()) await refresh(accepted.id);
      return open().length === 0;
    },
    snapshot: async () => (await correlationOf(relay, caller, correlation_id)).handoffs,
    progress: async () => open().flatMap((handoff) => progress.tell(handoff)),
    end: async () => ({ correlation_id, total: known.size }),
  };
}

/** The whole state of progress, once per change; a reader that misses one misses nothing. */
class ProgressTeller {
  readonly #told = new Map<string, number>();

  tell({ accepted, progress }: Handoff): StreamEvent[] {
    if (progress === null || this.#told.get(accepted.id) === progress.at) return [];
    this.#told.set(accepted.id, progress.at);
    return [{ event: "progress", data: { handoff: accepted.id, code: 212, ...progress } }];
  }
}

async function follow(
  relay: Relay,
  source: Source,
  { cursor, limit = limits.page_size_default }: { readonly cursor?: string; readonly limit?: number },
  request: { readonly last_event_id: string | null; readonly wants_stream: boolean },
  wait_ms: number,
  signal: AbortSignal,
): Promise<Reply> {
  const asked = request.last_event_id ?? cursor;
  const after_pos = asked === undefined ? 0 : readPosition(asked);
  if (after_pos === null) throw badCursor();
  const first = await relay.store.events({ ...source.query, after_pos, limit: 1 });
  if (asked !== undefined && after_pos < first.floor) throw await tooOld(source, first);
  if (request.wants_stream) return { kind: "events", events: stream(relay, source, after_pos, signal) };
  const read = () => pageOf(relay, source, after_pos, limit);
  const isReady = (page: Page) => page.events.length > 0 || page.ended;
  const page = await readUntil(relay.engine.wakeups, [source.key], wait_ms, signal, read, isReady);
  return json({ events: page.events, cursor: makeCursor("event", page.after_pos), ended: page.ended });
}

async function tooOld(source: Source, { head }: EventPage): Promise<Problem> {
  const snapshot = (await source.snapshot()).map((handoff) => showHandoff(handoff));
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
  const ended = await source.ended();
  const { events: stored } = await relay.store.events({ ...source.query, after_pos, limit });
  const events = await source.visible(stored.map(showEvent));
  return { events, after_pos: stored.at(-1)?.pos ?? after_pos, ended: ended && stored.length < limit };
}

export function showEvent({ pos, json: text }: StoredEvent): EventView {
  return { ...(JSON.parse(text) as Omit<EventView, "pos">), pos };
}

async function* stream(relay: Relay, source: Source, from: number, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  const watch = new Watch(relay.engine.wakeups, [source.key], signal);
  let after_pos = from;
  try {
    while (!signal.aborted) {
      const page = await pageOf(relay, source, after_pos, limits.page_size_default);
      for (const event of page.events) {
        yield { event: event.type, id: makeCursor("event", event.pos), data: event };
      }
      const more = page.after_pos > after_pos;
      after_pos = page.after_pos;
      for (const progress of await source.progress()) yield progress;
      if (page.ended) return yield { event: "end", data: await source.end() };
      if (!more) await watch.next(limits.sse_keep_alive_ms);
    }
  } finally {
    watch.close();
  }
}
