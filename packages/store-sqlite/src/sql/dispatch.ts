/** Statements that find work: what is ready, what is due, who holds it, what waits behind it. */

/** The index holds `excluded`, so that rows passed over are never fetched: 1,000 of them cost 0.3 ms (100,000 handoffs). */
export const findReady = `
  SELECT id, queue, rank, json, pos, capability, deadline_at, version_range, canary, sender,
    CASE WHEN addressee IS NULL THEN lane END AS lane,
    CASE WHEN addressee IS NULL THEN conversation_id END AS conversation_id
  FROM handoffs INDEXED BY handoffs_ready
  WHERE namespace = ?1 AND queue = ?2
    AND (excluded IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(excluded) WHERE value = ?3))
  ORDER BY rank, pos LIMIT ?4`;

export const findDue = `
  SELECT namespace, id FROM handoffs INDEXED BY handoffs_wake
  WHERE wake_at <= ? ORDER BY wake_at LIMIT ?`;
export const findNextDue = `
  SELECT wake_at FROM handoffs INDEXED BY handoffs_wake WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT 1`;

export const findLaneMembers = `
  SELECT id FROM handoffs INDEXED BY handoffs_lane WHERE namespace = ? AND lane = ? ORDER BY pos LIMIT ?`;

export const findHeld = `
  SELECT id FROM handoffs INDEXED BY handoffs_holder
  WHERE namespace = ? AND holder_agent = ? AND holder_worker = ? ORDER BY pos`;

/** Every live lease, of all namespaces. */
export const findLeases = `
  SELECT namespace, id, holder_agent, capability, sender FROM handoffs INDEXED BY handoffs_holder
  WHERE holder_agent IS NOT NULL`;

/** Who served the newest of a lane or conversation; only what is addressed to nobody by name. */
export const findServedInOrder = `
  SELECT last_agent FROM handoffs INDEXED BY handoffs_ordered_agent
  WHERE namespace = ? AND ordered_by = ? AND last_agent IS NOT NULL ORDER BY pos DESC LIMIT 1`;
export const findServedInConversation = `
  SELECT last_agent FROM handoffs INDEXED BY handoffs_conversation_agent
  WHERE namespace = ? AND conversation_id = ? AND capability = ? AND addressee IS NULL AND last_agent IS NOT NULL
  ORDER BY pos DESC LIMIT 1`;
export const findServedOfSender = `
  SELECT last_agent FROM handoffs INDEXED BY handoffs_conversation_agent
  WHERE namespace = ? AND conversation_id = ? AND capability = ? AND addressee IS NULL AND last_agent IS NOT NULL
    AND sender = ?
  ORDER BY pos DESC LIMIT 1`;

export const findOpenChildren = `
  SELECT id FROM handoffs INDEXED BY handoffs_open_children
  WHERE namespace = ? AND causation_id = ? AND open = 1 AND detached = 0 ORDER BY pos LIMIT ?`;
