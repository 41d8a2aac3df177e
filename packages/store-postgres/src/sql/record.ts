/** Statements on the small named things besides handoffs. */

import { given } from "../arrays.ts";

export const recordNameShape = { namespace: "text", kind: "text", key: "text" } as const;
export const recordShape = { ...recordNameShape, version: "integer", json: "text" } as const;

const isGiven = "record.namespace = given.namespace AND record.kind = given.kind AND record.key = given.key";

/** Locked in the order of their names, everywhere: two nodes never wait for each other. */
export const lockRecords = `
  SELECT record.namespace, record.kind, record.key, version
  FROM ${given(recordNameShape)} JOIN handfast.record ON ${isGiven}
  ORDER BY record.namespace, record.kind, record.key FOR UPDATE OF record`;

export const insertRecords = `
  INSERT INTO handfast.record (namespace, kind, key, version, json)
  SELECT namespace, kind, key, version, json FROM ${given(recordShape)} ORDER BY namespace, kind, key`;
export const updateRecords = `
  UPDATE handfast.record SET version = given.version, json = given.json FROM ${given(recordShape)} WHERE ${isGiven}`;
export const deleteRecords = `DELETE FROM handfast.record USING ${given(recordNameShape)} WHERE ${isGiven}`;

export const findNamedRecords = `
  SELECT record.namespace, record.kind, record.key, version, json
  FROM ${given(recordNameShape)} JOIN handfast.record ON ${isGiven}`;
export const findRecord =
  "SELECT namespace, kind, key, version, json FROM handfast.record WHERE namespace = $1 AND kind = $2 AND key = $3";
export const findRecords =
  "SELECT namespace, kind, key, version, json FROM handfast.record WHERE namespace = $1 AND kind = $2 ORDER BY key";
