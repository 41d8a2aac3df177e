/** Statements on the log. Reading it by filter is in `read-events.ts`. */

import { done_here } from "../combine.ts";

/** In the place of a handoff's id, where an entry of the log is of none: no handoff has it, and no filter asks for it. */
export const of_no_handoff = "";

/** "handfast", and what is locked: the making of the log's partitions. The end of the log has number 2. */
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

/** The newest position ever given, also when its event was pruned. */
const head = "greatest(floor, coalesce((SELECT pos FROM handfast.event ORDER BY pos DESC LIMIT 1), 0))";
export const readLog = `SELECT floor, latest, ${head} AS head FROM handfast.log`;

export const readHead = `SELECT ${head} AS head FROM handfast.log`;

export const stretchShape = { first: "bigint", last: "bigint" } as const;
/** Of all namespaces, in some stretches of the log. */
export const followEvents = `
  SELECT pos, namespace, json, resumed_at FROM unnest($1::bigint[], $2::bigint[]) AS stretch (first, last)
    CROSS JOIN LATERAL (
      SELECT pos, namespace, json, resumed_at FROM handfast.event
      WHERE pos >= stretch.first AND pos <= stretch.last ORDER BY pos LIMIT $3
    ) AS found
  ORDER BY pos LIMIT $3`;

/**
 * Gives positions under the log's lock, which is held until the transaction ends (migrations/009-append.ts), and answers the first of them.
 * What stands before it in the same statement is done by then.
 */
export const appendEvents = `handfast.append(${done_here}, ${Object.values(eventShape)
  .map((type, place) => `$${place + 1}::${type}[]`)
  .join(", ")})`;

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
