/** Statements on whole tables, for moving a store: everything there is, in the order of `Kept`. */

export const countKept = `
  SELECT 1 AS log,
    (SELECT count(*) FROM records) AS record,
    (SELECT count(*) FROM handoffs) AS handoff,
    (SELECT count(*) FROM bodies) AS body,
    (SELECT count(*) FROM keys WHERE until IS NOT NULL) AS key,
    (SELECT count(*) FROM events) AS event`;

export const isAnythingKept = `
  SELECT EXISTS (SELECT 1 FROM records) OR EXISTS (SELECT 1 FROM handoffs) OR EXISTS (SELECT 1 FROM keys)
    OR EXISTS (SELECT 1 FROM events) OR EXISTS (SELECT 1 FROM log WHERE floor <> 0) AS found`;

export const readWholeLog = "SELECT floor, latest FROM log";
export const writeWholeLog = "UPDATE log SET floor = ?, latest = ?";

export const readAllRecords = "SELECT namespace, kind, key, version, json FROM records ORDER BY namespace, kind, key";

export const readAllHandoffs = `
  SELECT pos, handoffs.json AS json, accepted.json AS accepted, open, queue, rank, wake_at, lane, holder_agent,
    holder_worker, last_agent, untaken, dead_letter, question_to, has_body, document, proof, payload
  FROM handoffs JOIN accepted ON accepted.handoff = handoffs.pos ORDER BY pos`;
export const readOtherBodies = `
  SELECT kind, number, document, proof, payload FROM bodies WHERE handoff = ? ORDER BY rowid`;
export const readReferences = "SELECT sha256 FROM artifacts WHERE handoff = ? ORDER BY sha256";

export const readKeptKeys = `
  SELECT namespace, sender, key, id, content, until FROM keys WHERE until IS NOT NULL ORDER BY namespace, sender, key`;

export const readAllEvents = "SELECT pos, namespace, handoff, correlation_id, at, json FROM events ORDER BY pos";
