/** Statements that find work: what is ready, what is due, who holds it, what waits behind it. */

/** The best of each queue, merged. */
export const findReady = `
  SELECT best.num, best.queue, best.rank, id, handoff.json, capability, deadline_at, version_range, canary,
    CASE WHEN addressee IS NULL THEN lane END AS lane,
    CASE WHEN addressee IS NULL THEN conversation_id END AS conversation_id
  FROM unnest($2::text[]) AS asked (queue) CROSS JOIN LATERAL (
      SELECT num, ready.queue, rank FROM handfast.ready
      WHERE namespace = $1 AND ready.queue = asked.queue AND (excluded IS NULL OR NOT excluded ? $3)
      ORDER BY rank, num LIMIT $4
    ) AS best
    JOIN handfast.accepted USING (num) JOIN handfast.handoff USING (num)
  ORDER BY best.rank, best.num LIMIT $4`;

export const findDue = `
  SELECT namespace, id FROM handfast.timer JOIN handfast.accepted USING (num)
  WHERE wake_at <= $1 ORDER BY wake_at, num LIMIT $2`;
export const findNextDue = "SELECT wake_at FROM handfast.timer ORDER BY wake_at LIMIT 1";

/** Handoffs by one thing that is so at this moment, in the order they were accepted. */
export const findByFacet = `
  SELECT id FROM handfast.facet JOIN handfast.accepted USING (num)
  WHERE facet.namespace = $1 AND kind = $2 AND value = $3 ORDER BY num LIMIT $4`;

export const findHeld = `
  SELECT id FROM handfast.lease JOIN handfast.accepted USING (num)
  WHERE lease.namespace = $1 AND agent = $2 AND worker = $3 ORDER BY num`;

/** Every live lease, of all namespaces. */
export const findLeases = `
  SELECT lease.namespace, id, agent, capability, sender FROM handfast.lease JOIN handfast.accepted USING (num) ORDER BY num`;

/** Who served the newest of a lane or conversation. */
export const findServed = `
  SELECT last_agent FROM handfast.facet JOIN handfast.handoff USING (num)
  WHERE namespace = $1 AND kind = $2 AND value = $3 ORDER BY num DESC LIMIT 1`;
