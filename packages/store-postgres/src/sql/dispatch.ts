/** Statements that find work: what is ready, what is due, who holds it, what waits behind it. */

import { given } from "../arrays.ts";

/**
 * Keeps what it finds for the transaction that asks, and passes over what another one keeps. It is the handoff's own row that is
 * locked, as any change of it does: whoever keeps it and whoever cancels it never wait for each other in a circle.
 */
const kept = "FOR UPDATE OF handoff SKIP LOCKED";

/** The best of each queue, merged. */
export const findReady = ready("handfast.ready", "", "");
/**
 * But for what is another node's for a moment: $5 says whose this one's is, $6 for how long. What was accepted earlier has the lower rank.
 * What was accepted later than now, by a clock that was ahead (that of a primary which was lost), would be kept for as long as it was ahead.
 */
const not_kept = `
        AND (keeper IS NULL OR keeper = $5 OR abs(extract(epoch FROM statement_timestamp()) * 1000 - ready.rank) > $6::float8)`;
export const keepReady = ready("handfast.ready JOIN handfast.handoff USING (num)", not_kept, kept);

function ready(tables: string, also: string, lock: string): string {
  return `
  SELECT best.num, best.queue, best.rank, id, handoff.json, capability, deadline_at, version_range, canary, sender,
    CASE WHEN addressee IS NULL THEN lane END AS lane,
    CASE WHEN addressee IS NULL THEN conversation_id END AS conversation_id
  FROM unnest($2::text[]) AS asked (queue) CROSS JOIN LATERAL (
      SELECT num, ready.queue, ready.rank FROM ${tables}
      WHERE namespace = $1 AND ready.queue = asked.queue AND (ready.excluded IS NULL OR NOT ready.excluded ? $3)${also}
      ORDER BY ready.rank, num LIMIT $4 ${lock}
    ) AS best
    JOIN handfast.accepted USING (num) JOIN handfast.handoff USING (num)
  ORDER BY best.rank, best.num LIMIT $4`;
}

export const findDue = `
  SELECT namespace, id FROM handfast.timer JOIN handfast.accepted USING (num)
  WHERE wake_at <= $1 ORDER BY wake_at, num LIMIT $2`;
export const keepDue = `
  SELECT namespace, id FROM (
      SELECT num, timer.wake_at FROM handfast.timer JOIN handfast.handoff USING (num)
      WHERE timer.wake_at <= $1 ORDER BY timer.wake_at, num LIMIT $2 ${kept}
    ) AS due JOIN handfast.accepted USING (num)
  ORDER BY due.wake_at, num`;
export const findNextDue = "SELECT wake_at FROM handfast.timer ORDER BY wake_at LIMIT 1";

/** Handoffs by one thing that is so at this moment, in the order they were accepted. */
export const findByFacet = `
  SELECT id FROM handfast.facet JOIN handfast.accepted USING (num)
  WHERE facet.namespace = $1 AND kind = $2 AND value = $3 ORDER BY num LIMIT $4`;

export const holderShape = { namespace: "text", agent: "text", worker: "text", request_id: "text" } as const;
export const findHeld = `
  SELECT place, id FROM ${given(holderShape)} JOIN handfast.lease USING (namespace, agent, worker)
    JOIN handfast.accepted USING (num)
  WHERE given.request_id IS NULL OR lease.request_id IS NULL OR lease.request_id = given.request_id
  ORDER BY num`;

/** Every live lease, of all namespaces. */
export const findLeases = `
  SELECT lease.namespace, id, agent, capability, sender FROM handfast.lease JOIN handfast.accepted USING (num) ORDER BY num`;

/** Who served the newest of a lane or conversation. */
export const findServed = `
  SELECT last_agent FROM handfast.facet JOIN handfast.handoff USING (num)
  WHERE namespace = $1 AND kind = $2 AND value = $3 ORDER BY num DESC LIMIT 1`;
export const findServedOfSender = `
  SELECT last_agent FROM handfast.facet JOIN handfast.handoff USING (num) JOIN handfast.accepted USING (num)
  WHERE facet.namespace = $1 AND kind = $2 AND value = $3 AND sender = $4 ORDER BY num DESC LIMIT 1`;
