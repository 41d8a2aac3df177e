/** What the columns of a database's answer hold, said where they are read; and what every store makes of the same columns. */

import type { Ready } from "@handfast/core";
import type { Body, BodyKind, StoredRecord } from "./store.ts";
import { parseState } from "./stored-state.ts";

export type Row = Readonly<Record<string, unknown>>;

export function text(row: Row | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value !== "string") throw unexpectedColumn(column, "text", value);
  return value;
}

export function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}

export function number(row: Row | undefined, column: string): number {
  const value = row?.[column];
  if (typeof value !== "number") throw unexpectedColumn(column, "a number", value);
  return value;
}

function bytesOrNull(row: Row, column: string): Uint8Array | null {
  const value = row[column];
  if (value === null) return null;
  if (!(value instanceof Uint8Array)) throw unexpectedColumn(column, "bytes", value);
  // A view into what else came with it would keep all of that.
  return value.constructor === Uint8Array ? value : new Uint8Array(value);
}

export function unexpectedColumn(column: string, wanted: string, value: unknown): TypeError {
  return new TypeError(`the database answers ${typeof value} for ${column} where ${wanted} was expected`);
}

export function recordOf(row: Row): StoredRecord {
  return {
    namespace: text(row, "namespace"),
    kind: text(row, "kind"),
    key: text(row, "key"),
    version: number(row, "version"),
    value: JSON.parse(text(row, "json")),
  };
}

export function readyOf(row: Row): Ready {
  const state = parseState(text(row, "json"));
  const { status } = state;
  return {
    id: text(row, "id"),
    queue: text(row, "queue"),
    rank: number(row, "rank"),
    excluded: state.excluded,
    avoid: state.avoid,
    prefer: state.prefer,
    capability: textOrNull(row, "capability"),
    ready_at: status.state === "queued" ? status.ready_at : 0,
    deadline_at: number(row, "deadline_at"),
    queue_until: status.state === "queued" ? status.queue_until : null,
    version_range: textOrNull(row, "version_range"),
    canary: textOrNull(row, "canary"),
    from: text(row, "sender"),
    lane: textOrNull(row, "lane"),
    conversation_id: textOrNull(row, "conversation_id"),
  };
}

const bodyKinds: ReadonlySet<string> = new Set<BodyKind>([
  "handoff",
  "ack",
  "outcome",
  "checkpoint",
  "question",
  "answer",
  "cancel",
]);

export function bodyOf(row: Row): Body {
  const kind = text(row, "kind");
  if (!isBodyKind(kind)) throw new TypeError(`unknown kind of body in the database: ${kind}`);
  return {
    kind,
    number: number(row, "number"),
    document: textOrNull(row, "document"),
    proof: textOrNull(row, "proof"),
    payload: bytesOrNull(row, "payload"),
  };
}

function isBodyKind(kind: string): kind is BodyKind {
  return bodyKinds.has(kind);
}
