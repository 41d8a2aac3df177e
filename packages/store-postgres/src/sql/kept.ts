/** Statements on whole tables, for moving a store: everything there is, in the order of `Kept`. */

import { given } from "../arrays.ts";
import { eventShape } from "./event.ts";

export const countKept = `
  SELECT 1::bigint AS log,
    (SELECT count(*) FROM handfast.record) AS record,
    (SELECT count(*) FROM handfast.accepted) AS handoff,
    (SELECT count(*) FROM handfast.body) AS body,
    (SELECT count(*) FROM handfast.kept_key) AS key,
    (SELECT count(*) FROM handfast.event WHERE pos > (SELECT floor FROM handfast.log)) AS event`;

export const isAnythingKept = `
  SELECT EXISTS (SELECT 1 FROM handfast.record) OR EXISTS (SELECT 1 FROM handfast.accepted)
    OR EXISTS (SELECT 1 FROM handfast.kept_key) OR EXISTS (SELECT 1 FROM handfast.event)
    OR EXISTS (SELECT 1 FROM handfast.log WHERE floor <> 0) AS found`;

export const readWholeLog = "SELECT floor, latest FROM handfast.log";
export const writeWholeLog = "UPDATE handfast.log SET floor = $1, latest = $2";

export const readAllRecords = `
  SELECT namespace, kind, key, version, json FROM handfast.record ORDER BY namespace, kind, key`;

/** Which handoffs there are, by the place of their accept in the log, and about how much each is to read. */
export const listHandoffs = `
  SELECT num, accept.pos, octet_length(json) + coalesce(octet_length(document), 0)
    + coalesce(octet_length(payload), 0)::bigint AS bytes
  FROM handfast.accepted CROSS JOIN LATERAL (
      SELECT min(event.pos) AS pos FROM handfast.event
      WHERE event.namespace = accepted.namespace AND event.handoff = accepted.id
    ) AS accept
  ORDER BY accept.pos`;
export const readHandoffsByNumber = `
  SELECT num, accepted.json AS accepted, handoff.json AS json, has_body, document, proof, payload, state, code, open, queue,
    rank, wake_at, lane, holder_agent, holder_worker, last_agent, untaken, dead_letter, question_to,
    excluded::text AS excluded
  FROM handfast.accepted JOIN handfast.handoff USING (num) WHERE num = ANY ($1::bigint[])`;
export const measureBodies = `
  SELECT num, sum(coalesce(octet_length(document), 0) + coalesce(octet_length(payload), 0))::bigint AS bytes
  FROM handfast.body WHERE num = ANY ($1::bigint[]) GROUP BY num`;
export const readBodiesByNumber = `
  SELECT num, kind, number, document, proof, payload FROM handfast.body WHERE num = ANY ($1::bigint[]) ORDER BY place`;
export const readReferencesByNumber = `
  SELECT num, sha256 FROM handfast.artifact WHERE num = ANY ($1::bigint[]) ORDER BY num, sha256`;

export const readKeptKeys = `
  SELECT namespace, sender, key, id, content, until FROM handfast.kept_key ORDER BY namespace, sender, key`;

export const readAllEvents = `
  SELECT pos, namespace, handoff, correlation_id, at, json FROM handfast.event
  WHERE pos > (SELECT floor FROM handfast.log) ORDER BY pos`;

export const placedEventShape = { pos: "bigint", ...eventShape } as const;
export const insertPlacedEvents = `
  INSERT INTO handfast.event (pos, namespace, handoff, correlation_id, at, agents, json)
  SELECT pos, namespace, handoff, correlation_id, at, agents, json FROM ${given(placedEventShape)}`;

/** A new handoff's number follows those that came from elsewhere. */
export const raiseNumbers = "SELECT setval('handfast.handoff_num', $1)";

/** What was just written has no statistics yet, and reading it back by index would not be thought of. */
export const analyzeAll = `
  ANALYZE handfast.accepted, handfast.handoff, handfast.body, handfast.artifact, handfast.event, handfast.record`;
