/**
 * Schema 3: what routing asks of a handoff's row.
 *
 * - `deadline_at`, `version_range` and `canary` are what a candidate says besides its state: without them each look at what is
 *   ready would read the accepted part too. Of what has ended nobody asks them.
 * - `conversation_id` finds a conversation; `ordered_by` is its lane, also after the end.
 * - The two indexes with `last_agent` find who served the last one of a conversation or lane. They are partial: most handoffs
 *   are of neither, and cost nothing.
 */
export const routing = `
ALTER TABLE handoffs ADD COLUMN deadline_at INTEGER;
ALTER TABLE handoffs ADD COLUMN version_range TEXT;
ALTER TABLE handoffs ADD COLUMN canary TEXT;
ALTER TABLE handoffs ADD COLUMN conversation_id TEXT;
ALTER TABLE handoffs ADD COLUMN ordered_by TEXT;
UPDATE handoffs SET deadline_at = (SELECT accepted.json ->> '$.deadline_at' FROM accepted WHERE accepted.handoff = pos)
  WHERE open = 1;
UPDATE handoffs SET
  conversation_id = told.conversation_id,
  ordered_by = CASE WHEN addressee IS NULL AND told.ordering_key IS NOT NULL
    THEN json_array(sender, addressee, capability, told.ordering_key) END
  FROM (SELECT handoff, json ->> '$.conversation_id' AS conversation_id, json ->> '$.ordering_key' AS ordering_key
    FROM accepted) AS told
  WHERE told.handoff = pos AND (told.conversation_id IS NOT NULL OR told.ordering_key IS NOT NULL);
CREATE INDEX handoffs_conversation ON handoffs (namespace, conversation_id) WHERE conversation_id IS NOT NULL;
CREATE INDEX handoffs_conversation_agent ON handoffs (namespace, conversation_id, capability)
  WHERE conversation_id IS NOT NULL AND addressee IS NULL AND last_agent IS NOT NULL;
CREATE INDEX handoffs_ordered_agent ON handoffs (namespace, ordered_by)
  WHERE ordered_by IS NOT NULL AND last_agent IS NOT NULL
`;
