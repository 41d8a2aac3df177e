/** Statements on the log. Reading it by filter is in `read-events.ts`. */

/** In the place of a handoff's id, where an entry of the log is of none: no handoff has it, and no filter asks for it. */
export const of_no_handoff = "";

export const insertEvents = (rows: number) =>
  `INSERT INTO events (pos, namespace, handoff, correlation_id, at, json)
   VALUES ${Array(rows).fill("(?, ?, ?, ?, ?, ?)").join(", ")}`;

/** The newest position ever given, also when its event was pruned. */
export const readHead = "SELECT max(floor, coalesce((SELECT max(pos) FROM events), 0)) AS head FROM log";
export const readFloor = "SELECT floor FROM log";
export const readLatest = `
  SELECT max(latest, coalesce((SELECT at FROM events ORDER BY pos DESC LIMIT 1), 0)) AS latest FROM log`;

/**
 * The newest of the events to be pruned: from the log's beginning on, as long as they are old enough and older than
 * every handoff that is still kept (whose row number is the place of its accept in the log).
 */
export const findPruned = `
  SELECT pos, at FROM (
    SELECT pos, at FROM events
    WHERE pos < coalesce((SELECT min(pos) FROM handoffs), ${Number.MAX_SAFE_INTEGER}) ORDER BY pos LIMIT ?
  ) WHERE at < ? ORDER BY pos DESC LIMIT 1`;
export const pruneEvents = "DELETE FROM events WHERE pos <= ?";
export const raiseFloor = "UPDATE log SET floor = ?, latest = max(latest, ?)";
