/** Statements on idempotency keys: of handoffs that are there, and of those that were purged. */

import { given } from "../arrays.ts";

export const keyShape = { namespace: "text", sender: "text", key: "text" } as const;
export const keptKeyShape = { ...keyShape, id: "text", content: "text", until: "bigint" } as const;

/** In one statement: a purge moves a key from the one table to the other, and neither look may miss it. */
export const findKeys = `
  SELECT place, coalesce(accepted.id, kept_key.id) AS id, coalesce(accepted.content, kept_key.content) AS content
  FROM ${given(keyShape)}
    LEFT JOIN handfast.accepted USING (namespace, sender, key)
    LEFT JOIN handfast.kept_key USING (namespace, sender, key)
  WHERE accepted.id IS NOT NULL OR kept_key.id IS NOT NULL`;

/** The handoff goes, its key stays for a while. */
export const keepKeys = `
  INSERT INTO handfast.kept_key (namespace, sender, key, id, content, until)
  SELECT namespace, sender, key, id, content, until FROM ${given(keptKeyShape)} ORDER BY place
  ON CONFLICT (namespace, sender, key) DO UPDATE SET until = excluded.until`;

export const findPurged = `
  SELECT place FROM ${given({ namespace: "text", id: "text" })}
  WHERE EXISTS (SELECT 1 FROM handfast.kept_key WHERE kept_key.namespace = given.namespace AND kept_key.id = given.id)`;

export const pruneKeys = `
  DELETE FROM handfast.kept_key WHERE (namespace, sender, key) IN (
    SELECT namespace, sender, key FROM handfast.kept_key WHERE until <= $1 ORDER BY until LIMIT $2
  ) RETURNING 1 AS gone`;
