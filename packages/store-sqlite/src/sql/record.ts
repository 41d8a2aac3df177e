/** Statements on the small named things besides handoffs. */

export const findRecord =
  "SELECT namespace, kind, key, version, json FROM records WHERE namespace = ? AND kind = ? AND key = ?";
export const findRecords =
  "SELECT namespace, kind, key, version, json FROM records WHERE namespace = ? AND kind = ? ORDER BY key";
export const putRecord = `
  INSERT INTO records (namespace, kind, key, version, json) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET version = excluded.version, json = excluded.json`;
export const deleteRecord = "DELETE FROM records WHERE namespace = ? AND kind = ? AND key = ?";
