/** Statements on the changes of records, which nodes follow. */

import { given } from "../arrays.ts";
import { recordNameShape } from "./record.ts";

export const recordChangeShape = { ...recordNameShape, node: "text" } as const;

/** "handfast", and what is locked: the end of the changes. */
const lock_of_changes = "1751215716, 6";

/** As the log's lock: in a statement of its own, so that the next one sees what the last holder left. Taken before the log's. */
export const lockRecordChanges = `SELECT pg_advisory_xact_lock(${lock_of_changes})`;

const head = "(SELECT coalesce(max(pos), 0) FROM handfast.record_change)";

export const insertRecordChanges = `
  INSERT INTO handfast.record_change (pos, namespace, kind, key, node, at)
  SELECT ${head} + place, namespace, kind, key, node, clock_timestamp() FROM ${given(recordChangeShape)}`;

export const readRecordHead = `SELECT ${head} AS head`;

/** At least one row, which says where the changes end. */
export const findRecordChanges = `
  SELECT newest.head, pos, namespace, kind, key, node
  FROM (SELECT ${head} AS head) AS newest LEFT JOIN LATERAL (
    SELECT * FROM handfast.record_change WHERE pos > $1 ORDER BY pos LIMIT $2
  ) AS change ON true
  ORDER BY pos`;

/** From the beginning on, however the server's clock went: positions stay dense. */
export const pruneRecordChanges = `
  DELETE FROM handfast.record_change WHERE pos < coalesce(
    (SELECT pos FROM handfast.record_change WHERE at >= clock_timestamp() - $1::bigint * interval '1 millisecond'
      ORDER BY pos LIMIT 1),
    ${head})`;
