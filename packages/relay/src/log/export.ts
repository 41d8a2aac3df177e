/**
 * The log as lines of JSON, for offline analysis. Each line carries the event's exact bytes, its position, and a cursor
 * to go on from. Lines are made as the reader takes them, a few at a time, so a slow reader holds nothing up and no
 * payload waits in memory for the others of its page.
 */

import type { Body, BodyKind, EventQuery, StoredEvent } from "@handfast/engine";
import type { EventView } from "@handfast/protocol/wire";
import { limits } from "../limits.ts";
import { makeCursor } from "../operations/cursor.ts";
import { payloadMember } from "../operations/payloads.ts";
import type { Relay } from "../operations/relay.ts";

export interface ExportQuery extends Omit<EventQuery, "limit"> {
  readonly payloads: "digests" | "inline";
}

/** Up to what was in the log when the export began: an export ends. */
export async function* exportLog(relay: Relay, query: ExportQuery): AsyncGenerator<Uint8Array> {
  const { payloads, ...events } = query;
  let { after_pos } = events;
  let head: number | null = null;
  for (;;) {
    const page = await relay.store.events({ ...events, after_pos, limit: limits.export_page_events });
    head ??= page.head;
    const upTo = head;
    yield* pieces(page.events.filter(({ pos }) => pos <= upTo).map((stored) => () => lineOf(relay, stored, payloads)));
    const last = page.events.at(-1)?.pos;
    if (last === undefined || last >= head || page.events.length < limits.export_page_events) return;
    after_pos = last;
  }
}

async function* pieces(lines: readonly (() => Promise<string>)[]): AsyncGenerator<Uint8Array> {
  let gathered: Buffer[] = [];
  let bytes = 0;
  for (const line of lines) {
    const made = Buffer.from(await line());
    gathered.push(made);
    bytes += made.length;
    if (bytes < limits.export_piece_bytes) continue;
    yield Buffer.concat(gathered);
    gathered = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(gathered);
}

async function lineOf(relay: Relay, { pos, json }: StoredEvent, payloads: ExportQuery["payloads"]): Promise<string> {
  const cursor = makeCursor("event", pos);
  const payload = payloads === "inline" ? await payloadOf(relay, JSON.parse(json)) : "";
  // In JSON a line break stands only between its parts, where a space says the same.
  const extra = payload === "" ? "" : `,"payload":{${payload.replaceAll(/[\n\r]/g, " ")}}`;
  return `{"pos":${pos},"cursor":"${cursor}","event":${json}${extra}}\n`;
}

type LoggedEvent = EventView & {
  readonly namespace: string;
  readonly fence?: number | null;
  readonly number?: number;
  readonly question?: string;
};

/** The payload an event is about, as a member; empty where it has none or retention has dropped it. */
async function payloadOf(relay: Relay, event: LoggedEvent): Promise<string> {
  const place = await placeOf(relay, event);
  if (place === null) return "";
  const body = await relay.engine.body(event.namespace, event.handoff, place.kind, place.number);
  return body === null ? "" : payloadMember("input", mediaType(body, event), body.payload);
}

async function placeOf(
  relay: Relay,
  event: LoggedEvent,
): Promise<{ readonly kind: BodyKind; readonly number: number } | null> {
  switch (event.type) {
    case "accepted":
      return { kind: "handoff", number: 0 };
    case "completed":
    case "failed":
    case "late":
      return typeof event.fence === "number" ? { kind: "outcome", number: event.fence } : null;
    case "checkpointed":
      return { kind: "checkpoint", number: event.number ?? 0 };
    case "asked":
    case "answered": {
      const handoff = await relay.engine.get(event.namespace, event.handoff);
      const number = handoff?.questions.findIndex(({ id }) => id === event.question) ?? -1;
      return number < 0 ? null : { kind: event.type === "asked" ? "question" : "answer", number };
    }
    default:
      return null;
  }
}

function mediaType({ document }: Body, event: LoggedEvent): string {
  if (document === null) return "application/json";
  const read = JSON.parse(document) as Record<string, { readonly media_type?: string } | undefined>;
  const digest =
    event.type === "accepted" ? read["input"] : event.type === "answered" ? read["answer"] : read["output"];
  return digest?.media_type ?? "application/octet-stream";
}
