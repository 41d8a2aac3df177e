/** Statements on a handoff's row and the parts of it that never change. */

import type { State } from "@handfast/core";

/** What never changes in a row. */
const fixedColumns = [
  "pos",
  "namespace",
  "id",
  "sender",
  "addressee",
  "capability",
  "correlation_id",
  "causation_id",
  "detached",
  "accepted_at",
  "deadline_at",
  "version_range",
  "canary",
  "conversation_id",
  "ordered_by",
] as const;

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
    ${fixedColumns.join(", ")}, version, json, ${changingColumns.join(", ")}
  ) VALUES (${[...fixedColumns, "version", "json", ...changingColumns].map(() => "?").join(", ")})`;

export const updateRow = (columns: readonly string[]) =>
  `UPDATE handoffs SET version = ?, json = ?${columns.map((column) => `, ${column} = ?`).join("")} WHERE pos = ?`;

export const deleteRow = "DELETE FROM handoffs WHERE pos = ?";

export const loadHandoff = `
  SELECT handoffs.json AS json, accepted.json AS accepted
  FROM handoffs JOIN accepted ON accepted.handoff = handoffs.pos
  WHERE handoffs.namespace = ? AND handoffs.id = ?`;

export const insertAccepted =
  "INSERT INTO accepted (handoff, json, has_body, document, proof, payload) VALUES (?, ?, ?, ?, ?, ?)";
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

/** The columns of `counts`, one for each state; those of open handoffs first. */
export const countedStates = [
  "queued",
  "delivered",
  "working",
  "waiting",
  "completed",
  "failed",
  "rejected",
  "canceled",
  "expired",
] as const satisfies readonly State[];
const open_states = 4;

export const addCounts = `
  INSERT INTO counts (namespace, sender, ${countedStates.join(", ")}) VALUES (?, ?, ${countedStates.map(() => "?").join(", ")})
  ON CONFLICT DO UPDATE SET ${countedStates.map((state) => `${state} = ${state} + excluded.${state}`).join(", ")}`;
export const readCounts = `
  SELECT ${countedStates.map((state) => `total(${state}) AS ${state}`).join(", ")} FROM counts WHERE namespace = ?`;
/** Over all namespaces: one row for each sender. */
const open = countedStates.slice(0, open_states).join(" + ");
export const countOpenBySender = `
  SELECT namespace, sender, ${open} AS number FROM counts WHERE ${open} > 0`;
