/**
 * The log, by filter, in one statement: what it holds, its floor and its head are of one moment. Positions become visible in
 * order, so whoever goes on after the last one it got misses nothing.
 */

import type { EventPage, EventQuery } from "@handfast/engine";
import type { Asks, Parameter } from "./connection.ts";
import { clock_slack_ms } from "./limits.ts";
import { number, numberOrNull, type Row, text } from "./rows.ts";
import { readLog } from "./sql/event.ts";

export async function readEvents(asks: Asks, query: EventQuery): Promise<EventPage> {
  const parameters: Parameter[] = [];
  const rows = await asks.ask(eventsSql(query, parameters), ...parameters);
  const found = rows.filter((row) => row["pos"] !== null);
  return { events: found.map(eventOf), floor: number(rows[0], "floor"), head: number(rows[0], "head") };
}

export function eventOf(row: Row): EventPage["events"][number] {
  const resumed_at = numberOrNull(row, "resumed_at");
  return { pos: number(row, "pos"), json: text(row, "json"), ...(resumed_at !== null && { resumed_at }) };
}

function eventsSql(query: EventQuery, parameters: Parameter[]): string {
  const put = (value: Parameter) => `$${parameters.push(value)}`;
  const conditions = [`event.namespace = ${put(query.namespace)}`];
  conditions.push(`event.pos > greatest(${put(query.after_pos)}::bigint, log.floor)`);
  if (query.handoff !== undefined) conditions.push(`event.handoff = ${put(query.handoff)}`);
  if (query.agent !== undefined) conditions.push(`event.agents ? ${put(query.agent)}`);
  if (query.at_from !== undefined) {
    conditions.push(`event.at >= ${put(query.at_from)}`);
    // Times follow positions but for what clocks differ: where to begin to look.
    conditions.push(`event.pos >= coalesce((SELECT pos FROM handfast.event AS early
      WHERE early.at >= ${put(query.at_from - clock_slack_ms)} ORDER BY early.at, early.pos LIMIT 1), 0)`);
  }
  if (query.at_until !== undefined) conditions.push(`event.at <= ${put(query.at_until)}`);
  const limit = put(query.limit);
  const where = conditions.join(" AND ");
  const ordered = (more: string) =>
    `(SELECT pos, json, resumed_at FROM handfast.event WHERE ${where}${more} ORDER BY pos LIMIT ${limit})`;
  const found =
    query.correlation_id === undefined ? ordered("") : correlated(ordered, put(query.correlation_id), limit);
  return `SELECT log.floor, log.head, found.pos, found.json, found.resumed_at FROM (${readLog}) AS log
    LEFT JOIN LATERAL ${found} AS found ON true ORDER BY found.pos`;
}

/** A handoff that began a correlation has its own id, and none beside it. */
function correlated(ordered: (more: string) => string, id: string, limit: string): string {
  const own = ` AND event.handoff = ${id} AND event.correlation_id IS NULL`;
  return `(SELECT pos, json, resumed_at FROM (${ordered(` AND event.correlation_id = ${id}`)} UNION ALL ${ordered(own)}) AS both_kinds
    ORDER BY pos LIMIT ${limit})`;
}
