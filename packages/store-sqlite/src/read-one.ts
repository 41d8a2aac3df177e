/** Reads of single things, on the writer's connection. */

import type { Ready, Tie } from "@handfast/core";
import { type Body, type BodyKind, bodyOf, number, readyOf, text } from "@handfast/engine";
import type { Connection } from "./connection.ts";
import { findBodies, findBody, findHandoffBody } from "./sql/body.ts";
import { findReady, findServedInConversation, findServedInOrder, findServedOfSender } from "./sql/dispatch.ts";

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

export function readLastServed(connection: Connection, namespace: string, tie: Tie): string | null {
  const row = rowOfServed(connection, namespace, tie);
  return row === undefined ? null : text(row, "last_agent");
}

function rowOfServed(connection: Connection, namespace: string, tie: Tie) {
  if (tie.kind === "sticky_order") return connection.get(findServedInOrder, namespace, tie.lane);
  const { conversation_id, capability, from } = tie;
  return from === null
    ? connection.get(findServedInConversation, namespace, conversation_id, capability)
    : connection.get(findServedOfSender, namespace, conversation_id, capability, from);
}
