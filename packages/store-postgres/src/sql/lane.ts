/** Statements on lanes: whoever changes the order of one is alone with it until its transaction ends. */

import { given } from "../arrays.ts";

export const laneShape = { namespace: "text", lane: "text", most: "bigint" } as const;

/** In one order everywhere: two nodes that lock several never wait for each other. A lane has no row of its own. */
export const lockLanes = `
  SELECT pg_advisory_xact_lock(key) FROM (
    SELECT DISTINCT hashtextextended(namespace || ' ' || lane, 7420) AS key FROM ${given(laneShape)} ORDER BY 1
  ) AS ordered`;

/** The first open handoffs of each, in the order of their accept. */
export const findMembers = `
  SELECT given.place, id FROM ${given(laneShape)} CROSS JOIN LATERAL (
      SELECT num FROM handfast.facet
      WHERE facet.namespace = given.namespace AND kind = 'lane' AND value = given.lane ORDER BY num LIMIT given.most
    ) AS member JOIN handfast.accepted USING (num)
  ORDER BY given.place, num`;
