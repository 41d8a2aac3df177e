/** Statements on the log. Reading it by filter is in `read-events.ts`. */

import { given } from "../arrays.ts";

/** In the place of a handoff's id, where an entry of the log is of none: no handoff has it, and no filter asks for it. */
export const of_no_handoff = "";

/** "handfast", and what is locked: the end of the log, and the making of its partitions. */
const lock_of_log = "1751215716, 2";
export const lock_of_partitions = "1751215716, 3";

export const eventShape = {
  namespace: "text",
  handoff: "text",
  correlation_id: "text",
  at: "bigint",
  agents: "jsonb",
  json: "text",
  resumed_at: "bigint",
} as const;

/**
 * Whoever holds this until the end of its transaction gives positions. Taken in a statement of its own: what the next one sees
 * as the head is then as the last holder left it.
 */
export const lockLog = `SELECT pg_advisory_xact_lock(${lock_of_log})`;

/** The newest position ever given, also when its event was pruned. */
const head = "greatest(floor, coalesce((SELECT pos FROM handfast.event ORDER BY pos DESC LIMIT 1), 0))";
export const readLog = `SELECT floor, latest, ${head} AS head FROM handfast.log`;

export const readHead = `SELECT ${head} AS head FROM handfast.log`;

/** Of all namespaces. */
export const followEvents = `
  SELECT pos, namespace, json, resumed_at FROM handfast.event WHERE pos > $1 ORDER BY pos LIMIT $2`;

export const insertEvents = `
  INSERT INTO handfast.event (pos, namespace, handoff, correlation_id, at, agents, json, resumed_at)
  SELECT log.head + place, namespace, handoff, correlation_id, at, agents, json, resumed_at
  FROM ${given(eventShape)}, (SELECT ${head} AS head FROM handfast.log) AS log`;

export const readLatest = `
  SELECT greatest(latest, coalesce((SELECT at FROM handfast.event ORDER BY pos DESC LIMIT 1), 0)) AS latest
  FROM handfast.log`;

/** Before this time there is nothing that must stay: neither what is young, nor the accept of a handoff still kept. */
export const oldestKept = "SELECT least($1::bigint, (SELECT min(accepted_at) FROM handfast.accepted)) AS at";

export const findFirst = `
  SELECT pos FROM handfast.event WHERE pos > (SELECT floor FROM handfast.log) ORDER BY pos LIMIT 1`;

/**
 * The newest of the events to be pruned: from the log's beginning on, as long as they are old enough and stand before the first
 * accept of a handoff still kept. An accept stands in the log with its own time, so that nothing of a later time is before it.
 */
export const findPruned = `
  WITH kept AS (SELECT min(accepted_at) AS at FROM handfast.accepted),
    accept AS (
      SELECT min(event.pos) AS pos FROM kept JOIN handfast.accepted ON accepted_at = kept.at
        JOIN handfast.event ON event.namespace = accepted.namespace AND event.handoff = accepted.id
    ),
    first AS (
      SELECT pos, at FROM handfast.event WHERE pos > (SELECT floor FROM handfast.log) ORDER BY pos LIMIT $1
    ),
    stays AS (
      SELECT min(first.pos) AS pos FROM first, kept, accept
      WHERE first.at >= $2::bigint OR first.at > kept.at OR (first.at = kept.at AND first.pos >= accept.pos)
    )
  SELECT max(first.pos) AS pos, max(first.at) AS at FROM first, stays WHERE stays.pos IS NULL OR first.pos < stays.pos`;
export const pruneEvents = `
  WITH gone AS (
    DELETE FROM handfast.event WHERE pos > (SELECT floor FROM handfast.log) AND pos <= $1 RETURNING 1
  ) SELECT count(*) AS events FROM gone`;
export const raiseFloor = "UPDATE handfast.log SET floor = greatest(floor, $1), latest = greatest(latest, $2)";
