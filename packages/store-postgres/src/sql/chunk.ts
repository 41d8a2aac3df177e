/** Statements on streamed output. Offsets count UTF-16 units, which the server knows nothing of: it only compares them. */

import { given } from "../arrays.ts";
import { clock } from "./clock.ts";

export const chunkShape = {
  namespace: "text",
  id: "text",
  fence: "bigint",
  start_at: "bigint",
  end_at: "bigint",
  json: "text",
} as const;

export const appendChunks = `
  INSERT INTO handfast.chunk (namespace, id, fence, start_at, end_at, json, at)
  SELECT namespace, id, fence, start_at, end_at, json, ${clock} FROM ${given(chunkShape)}
  ON CONFLICT (namespace, id, fence, start_at) DO UPDATE SET end_at = excluded.end_at, json = excluded.json
  WHERE excluded.end_at > chunk.end_at`;

export const floorShape = { namespace: "text", id: "text", fence: "bigint", floor: "bigint" } as const;

/** What earlier attempts streamed, and what is beyond the bound. */
export const trimChunks = `
  DELETE FROM handfast.chunk USING ${given(floorShape)}
  WHERE chunk.namespace = given.namespace AND chunk.id = given.id
    AND (chunk.fence < given.fence OR (chunk.fence = given.fence AND chunk.end_at <= given.floor))`;

/** One row at least, where something was streamed. */
export const findChunks = `
  WITH newest AS (
    SELECT fence, min(start_at) AS floor, max(end_at) AS until FROM handfast.chunk
    WHERE namespace = $1 AND id = $2 GROUP BY fence ORDER BY fence DESC LIMIT 1
  )
  SELECT newest.fence, newest.floor, newest.until, chunk.start_at, chunk.json FROM newest
  LEFT JOIN handfast.chunk
    ON namespace = $1 AND id = $2 AND chunk.fence = newest.fence AND chunk.end_at > $3::bigint
  ORDER BY chunk.start_at`;

/** Old ones of handoffs that are over; and the oldest of all, where they are too many. */
export const pruneChunks = `
  DELETE FROM handfast.chunk WHERE at < $1 AND NOT EXISTS (
    SELECT FROM handfast.accepted JOIN handfast.handoff USING (num)
    WHERE accepted.namespace = chunk.namespace AND accepted.id = chunk.id AND handoff.open)`;
export const boundChunks = `
  WITH aged AS (
    SELECT namespace, id, fence, start_at, sum(length(json)) OVER (ORDER BY at DESC, namespace, id, start_at) AS newer
    FROM handfast.chunk
  )
  DELETE FROM handfast.chunk USING aged
  WHERE aged.newer > $1 AND (chunk.namespace, chunk.id, chunk.fence, chunk.start_at)
    = (aged.namespace, aged.id, aged.fence, aged.start_at)`;
