/** Statements on a handoff's row and the parts of it that never change. */

/** What may change in a row, besides version and JSON; each is written only when it did change. */
export const changingColumns = [
  "state",
  "code",
  "open",
  "queue",
  "rank",
  "wake_at",
  "lane",
  "holder_agent",
  "holder_worker",
  "last_agent",
  "untaken",
  "dead_letter",
  "question_to",
  "excluded",
] as const;

export const findRow = `
  SELECT pos, version, ${changingColumns.join(", ")}
  FROM handoffs WHERE namespace = ? AND id = ?`;

export const insertRow = `
  INSERT INTO handoffs (
    pos, namespace, id, sender, addressee, capability, correlation_id, causation_id, detached, accepted_at,
    version, json, ${changingColumns.join(", ")}
  ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${changingColumns.map(() => "?").join(", ")})`;

export const updateRow = (columns: readonly string[]) =>
  `UPDATE handoffs SET version = ?, json = ?${columns.map((column) => `, ${column} = ?`).join("")} WHERE pos = ?`;

export const deleteRow = "DELETE FROM handoffs WHERE pos = ?";

export const loadHandoff = `
  SELECT handoffs.json AS json, accepted.json AS accepted
  FROM handoffs JOIN accepted ON accepted.handoff = handoffs.pos
  WHERE handoffs.namespace = ? AND handoffs.id = ?`;

export const insertAccepted = "INSERT INTO accepted (handoff, json) VALUES (?, ?)";
export const deleteAccepted = "DELETE FROM accepted WHERE handoff = ?";

export const insertLabel = "INSERT INTO labels (namespace, key, value, handoff) VALUES (?, ?, ?, ?)";
export const deleteLabel = "DELETE FROM labels WHERE namespace = ? AND key = ? AND value = ? AND handoff = ?";

export const insertArtifact =
  "INSERT INTO artifacts (namespace, sha256, handoff) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
export const deleteArtifacts = "DELETE FROM artifacts WHERE handoff = ?";
export const findReferrers = `
  SELECT handoffs.id AS id
  FROM artifacts JOIN handoffs ON handoffs.pos = artifacts.handoff
  WHERE artifacts.namespace = ? AND artifacts.sha256 = ?
  ORDER BY artifacts.handoff LIMIT ?`;

export const addCount = `
  INSERT INTO counts (namespace, sender, state, number) VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET number = number + excluded.number`;
export const readCounts = `
  SELECT state, sum(number) AS number FROM counts WHERE namespace = ? GROUP BY state HAVING sum(number) > 0`;
/** Over all namespaces: a few rows for each sender. */
export const countOpenBySender = `
  SELECT namespace, sender, sum(number) AS number FROM counts
  WHERE state IN ('queued', 'delivered', 'working', 'waiting')
  GROUP BY namespace, sender HAVING sum(number) > 0`;
