/**
 * Schema 5: what nodes share beside handoffs and records.
 *
 * `resumed_at` of an event: since when the node that decided it had been there, so that every node judges it alike.
 */
export const sharedLife = `
ALTER TABLE handfast.event ADD COLUMN resumed_at bigint
`;
