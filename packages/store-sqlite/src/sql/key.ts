/** Statements on idempotency keys. */

export const findKey = "SELECT id, content FROM keys WHERE namespace = ? AND sender = ? AND key = ?";
export const insertKey = "INSERT INTO keys (namespace, sender, key, id, content) VALUES (?, ?, ?, ?, ?)";
export const limitKey = "UPDATE keys SET until = ? WHERE namespace = ? AND sender = ? AND key = ?";
export const findPurged =
  "SELECT 1 FROM keys INDEXED BY keys_purged WHERE namespace = ? AND id = ? AND until IS NOT NULL";
export const pruneKeys = `
  DELETE FROM keys WHERE (namespace, sender, key) IN (
    SELECT namespace, sender, key FROM keys WHERE until <= ? ORDER BY until LIMIT ?
  )`;
