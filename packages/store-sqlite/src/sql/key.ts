/** Statements on idempotency keys. A key that is the id of a handoff that is there has no row. */

export const findKey = "SELECT id, content FROM keys WHERE namespace = ? AND sender = ? AND key = ?";
export const insertKey = "INSERT INTO keys (namespace, sender, key, id, content, until) VALUES (?, ?, ?, ?, ?, ?)";
/** The handoff goes, its key stays for a while. */
export const limitKey = `${insertKey} ON CONFLICT DO UPDATE SET until = excluded.until`;
export const findPurged =
  "SELECT 1 FROM keys INDEXED BY keys_purged WHERE namespace = ? AND id = ? AND until IS NOT NULL";
export const pruneKeys = `
  DELETE FROM keys WHERE (namespace, sender, key) IN (
    SELECT namespace, sender, key FROM keys WHERE until <= ? ORDER BY until LIMIT ?
  )`;
