/** Statements on handoffs: what never changes, what changes, and the rows by which they are found. */

import { given, type Shape } from "../arrays.ts";

export const acceptedShape = {
  num: "bigint",
  namespace: "text",
  id: "text",
  sender: "text",
  key: "text",
  content: "text",
  addressee: "text",
  capability: "text",
  correlation_id: "text",
  causation_id: "text",
  detached: "boolean",
  accepted_at: "bigint",
  deadline_at: "bigint",
  version_range: "text",
  canary: "text",
  conversation_id: "text",
  json: "text",
  has_body: "boolean",
  document: "text",
  proof: "text",
  payload: "bytea",
} as const;

/** What may change in a row, besides version and JSON. */
const placeShape = {
  state: "text",
  code: "integer",
  open: "boolean",
  queue: "text",
  rank: "float8",
  wake_at: "bigint",
  lane: "text",
  holder_agent: "text",
  holder_worker: "text",
  last_agent: "text",
  untaken: "boolean",
  dead_letter: "text",
  question_to: "text",
  excluded: "jsonb",
} as const;
export const handoffShape = { num: "bigint", version: "integer", json: "text", ...placeShape } as const;

export const readyShape = {
  num: "bigint",
  namespace: "text",
  queue: "text",
  rank: "float8",
  excluded: "jsonb",
  keeper: "text",
} as const;
export const timerShape = { num: "bigint", wake_at: "bigint" } as const;
/** The last that was heard of whoever held it before. */
const heardShape = { heard_fence: "bigint", heard_at: "bigint" } as const;
export const leaseShape = {
  num: "bigint",
  namespace: "text",
  agent: "text",
  worker: "text",
  request_id: "text",
  ...heardShape,
} as const;
export const endedLeaseShape = { num: "bigint", ...heardShape } as const;
export const facetShape = { namespace: "text", kind: "text", value: "text", num: "bigint" } as const;
export const bodyShape = {
  num: "bigint",
  kind: "text",
  number: "bigint",
  document: "text",
  proof: "text",
  payload: "bytea",
} as const;
export const artifactShape = { namespace: "text", sha256: "text", num: "bigint" } as const;
export const tallyShape = { namespace: "text", sender: "text", state: "text", number: "bigint" } as const;
export const numShape = { num: "bigint" } as const;

export const nameShape = { namespace: "text", id: "text" } as const;

/** Rows are locked in the order of their numbers, everywhere: two nodes never wait for each other. */
export const lockRows = `
  SELECT accepted.namespace, id, num, version, ${Object.keys(placeShape)
    .map((column) => (column === "excluded" ? "excluded::text AS excluded" : column))
    .join(", ")}, beat_fence, beat_at
  FROM ${given(nameShape)} JOIN handfast.accepted USING (namespace, id) JOIN handfast.handoff USING (num)
    LEFT JOIN handfast.lease USING (num)
  ORDER BY num FOR UPDATE OF handoff`;

export const takeNumbers = "SELECT nextval('handfast.handoff_num') AS num FROM generate_series(1, $1)";

/**
 * A row for each whose key is neither kept nor another handoff's. An index refuses those of a handoff that is there; but of one that is being
 * purged it waits for the end, which this statement does not see: what it sees is that the handoff was there.
 */
export const insertAccepted = `
  INSERT INTO handfast.accepted (${Object.keys(acceptedShape).join(", ")})
  SELECT ${Object.keys(acceptedShape).join(", ")} FROM ${given(acceptedShape)}
  WHERE NOT EXISTS (
    SELECT 1 FROM handfast.kept_key
    WHERE kept_key.namespace = given.namespace AND kept_key.sender = given.sender AND kept_key.key = given.key
  ) AND NOT EXISTS (
    SELECT 1 FROM handfast.accepted AS known
    WHERE known.namespace = given.namespace AND known.sender = given.sender AND known.key = given.key
  )
  ORDER BY place RETURNING num`;
export const insertHandoffs = insert("handoff", handoffShape);

/** What a row is taken to be when it is written: its version, and the last that was heard of whoever holds it. */
export const updatedShape = { ...handoffShape, was_version: "integer", ...heardShape } as const;
/** A row for each that was as it was taken to be: nobody has written it since, nor has its holder beaten. */
export const updateHandoffs = `
  UPDATE handfast.handoff SET ${Object.keys(handoffShape)
    .filter((column) => column !== "num")
    .map((column) => `${column} = given.${column}`)
    .join(", ")}
  FROM ${given(updatedShape)} WHERE handoff.num = given.num AND handoff.version = given.was_version
    AND NOT EXISTS (
      SELECT 1 FROM handfast.lease
      WHERE lease.num = given.num AND beat_fence = given.heard_fence AND beat_at > given.heard_at
    )
  RETURNING handoff.num`;

export const putReady = `${insert("ready", readyShape)}
  ON CONFLICT (num) DO UPDATE SET queue = excluded.queue, rank = excluded.rank, excluded = excluded.excluded,
    keeper = excluded.keeper`;
export const putTimers = `${insert("timer", timerShape)} ON CONFLICT (num) DO UPDATE SET wake_at = excluded.wake_at`;

/**
 * A beat locks the lease's row, and may be committed while a statement that did not see it waits for that row: whoever ends the lease, or gives
 * it to another, looks at the row as it is then. A row for each that nobody beat since; what was heard of one's fence says nothing of the next.
 */
export const putLeases = `
  INSERT INTO handfast.lease (num, namespace, agent, worker, request_id, beat_fence, beat_at)
  SELECT num, namespace, agent, worker, request_id, heard_fence, heard_at FROM ${given(leaseShape)} ORDER BY place
  ON CONFLICT (num) DO UPDATE SET agent = excluded.agent, worker = excluded.worker, request_id = excluded.request_id
    WHERE (lease.beat_fence = excluded.beat_fence AND lease.beat_at > excluded.beat_at) IS NOT TRUE
  RETURNING num`;
export const deleteLeases = `
  DELETE FROM handfast.lease USING ${given(endedLeaseShape)} WHERE lease.num = given.num
    AND (beat_fence = given.heard_fence AND beat_at > given.heard_at) IS NOT TRUE
  RETURNING lease.num`;

/** The first body of a kind and number stays: a second one changes nothing. */
export const insertBodies = `${insert("body", bodyShape)} ON CONFLICT DO NOTHING`;
export const insertArtifacts = `${insert("artifact", artifactShape)} ON CONFLICT DO NOTHING`;
export const insertFacets = `${insert("facet", facetShape)} ON CONFLICT DO NOTHING`;
export const addTally = insert("tally", tallyShape);

export const deleteFacets = `
  DELETE FROM handfast.facet USING ${given(facetShape)}
  WHERE facet.namespace = given.namespace AND facet.kind = given.kind AND facet.value = given.value
    AND facet.num = given.num`;
export const deleteCheckpoints = `${deleteFrom("body")} AND body.kind = 'checkpoint'`;
export const deleteReady = deleteFrom("ready");
export const deleteTimers = deleteFrom("timer");
/** Everything of a handoff that a purge drops, besides what it is found by. */
export const deletePurged = ["accepted", "handoff", "body", "artifact"].map(deleteFrom);

function insert(table: string, shape: Shape): string {
  const columns = Object.keys(shape).join(", ");
  return `INSERT INTO handfast.${table} (${columns}) SELECT ${columns} FROM ${given(shape)} ORDER BY place`;
}

function deleteFrom(table: string): string {
  return `DELETE FROM handfast.${table} USING ${given(numShape)} WHERE ${table}.num = given.num`;
}

export const loadHandoffs = `
  SELECT place, handoff.json AS json, accepted.json AS accepted, beat_fence, beat_at, progress
  FROM ${given(nameShape)} JOIN handfast.accepted USING (namespace, id)
    JOIN handfast.handoff USING (num) LEFT JOIN handfast.lease USING (num)`;

export const findOwnBody = `
  SELECT 'handoff' AS kind, 0::bigint AS number, document, proof, payload FROM handfast.accepted
  WHERE namespace = $1 AND id = $2 AND has_body`;

/** Bodies of several handoffs: their own ones lie beside the accepted part. */
export const bodyNameShape = { ...nameShape, kind: "text", number: "bigint" } as const;
export const findNamedBodies = `
  SELECT given.place, kind, number, body.document, body.proof, body.payload
  FROM ${given(bodyNameShape)} JOIN handfast.accepted USING (namespace, id) JOIN handfast.body USING (num, kind, number)
  UNION ALL
  SELECT place, kind, number, document, proof, payload
  FROM ${given(bodyNameShape)} JOIN handfast.accepted USING (namespace, id)
  WHERE kind = 'handoff' AND number = 0 AND has_body`;

export const findBodies = `
  SELECT kind, number, body.document, body.proof, body.payload
  FROM handfast.accepted JOIN handfast.body USING (num)
  WHERE namespace = $1 AND id = $2 ORDER BY place`;

export const findReferrers = `
  SELECT id FROM handfast.artifact JOIN handfast.accepted USING (num)
  WHERE artifact.namespace = $1 AND sha256 = $2 ORDER BY num LIMIT $3`;

export const readCounts = `
  SELECT state, sum(number)::bigint AS number FROM handfast.tally WHERE namespace = $1
  GROUP BY state HAVING sum(number) <> 0`;
/** Over all namespaces: one row for each sender. */
export const countOpenBySender = `
  SELECT namespace, sender, sum(number)::bigint AS number FROM handfast.tally
  WHERE state IN ('queued', 'delivered', 'working', 'waiting')
  GROUP BY namespace, sender HAVING sum(number) > 0 ORDER BY namespace, sender`;
/** What many commits added becomes one row for each sender and state. */
export const sumTally = `
  WITH gone AS (DELETE FROM handfast.tally RETURNING namespace, sender, state, number)
  INSERT INTO handfast.tally (namespace, sender, state, number)
  SELECT namespace, sender, state, sum(number) FROM gone GROUP BY namespace, sender, state HAVING sum(number) <> 0`;
/** Rows of `tally` above which summing up is worth its while. */
export const countTally = "SELECT count(*) AS rows FROM (SELECT 1 FROM handfast.tally LIMIT $1) AS counted";
