/** Reads of single things, on the writer's connection. */

import type { Ready } from "@handfast/core";
import type { Body, BodyKind, StoredRecord } from "@handfast/engine";
import { bytesOrNull, type Connection, number, type Row, text, textOrNull } from "./connection.ts";
import { parseState } from "./row.ts";
import { findBodies, findBody, findHandoffBody } from "./sql/body.ts";
import { findReady } from "./sql/dispatch.ts";

export function readBody(connection: Connection, namespace: string, id: string, kind: BodyKind, nth: number) {
  const is_own = kind === "handoff" && nth === 0;
  const row = is_own
    ? connection.get(findHandoffBody, namespace, id)
    : connection.get(findBody, namespace, id, kind, nth);
  return row === undefined ? null : bodyOf(row);
}

export function readBodies(connection: Connection, namespace: string, id: string): readonly Body[] {
  const own = readBody(connection, namespace, id, "handoff", 0);
  const others = connection.all(findBodies, namespace, id).map(bodyOf);
  return own === null ? others : [own, ...others];
}

export interface CandidateQuery {
  readonly namespace: string;
  readonly queues: readonly string[];
  readonly agent: string;
  readonly limit: number;
}

/** The best of each queue, merged: an agent has few queues. */
export function readCandidates(connection: Connection, query: CandidateQuery): readonly Ready[] {
  const { namespace, agent, limit } = query;
  const rows = [...new Set(query.queues)].flatMap((queue) => connection.all(findReady, namespace, queue, agent, limit));
  if (query.queues.length > 1)
    rows.sort((a, b) => number(a, "rank") - number(b, "rank") || number(a, "pos") - number(b, "pos"));
  return rows.slice(0, limit).map(readyOf);
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

function readyOf(row: Row): Ready {
  const state = parseState(text(row, "json"));
  return {
    id: text(row, "id"),
    queue: text(row, "queue"),
    rank: number(row, "rank"),
    excluded: state.excluded,
    avoid: state.avoid,
    prefer: state.prefer,
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

function bodyOf(row: Row): Body {
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
