/** Statements on beats: a lease's sign of life is a column of its row that no index knows, so that it stays on its page (HOT). */

import { given } from "../arrays.ts";

export const beatShape = {
  namespace: "text",
  id: "text",
  agent: "text",
  worker: "text",
  fence: "bigint",
  at: "bigint",
  progress: "text",
} as const;

/** Only forward, and only while the same worker holds it; answers which. Rows are locked in the order of their numbers, as everywhere. */
export const putBeats = `
  WITH beats AS (
    SELECT num, place, given.fence, given.at, given.progress
    FROM ${given(beatShape)} JOIN handfast.accepted USING (namespace, id) JOIN handfast.lease USING (num)
    WHERE lease.agent = given.agent AND lease.worker = given.worker
    ORDER BY num FOR UPDATE OF lease
  ), put AS (
    UPDATE handfast.lease SET beat_fence = beats.fence, beat_at = beats.at, progress = beats.progress
    FROM beats WHERE lease.num = beats.num
      AND (lease.beat_fence IS NULL OR beats.fence > lease.beat_fence
        OR (beats.fence = lease.beat_fence AND beats.at >= lease.beat_at))
  )
  SELECT place FROM beats`;
