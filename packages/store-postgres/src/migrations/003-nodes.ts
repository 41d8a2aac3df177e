/**
 * Schema 3: several nodes. What the holder of a lease last said of itself stands beside the lease, not in the handoff's row: it
 * is written often, matters to no index, and goes with the lease.
 */
export const nodes = `
ALTER TABLE handfast.lease ADD COLUMN beat_fence bigint, ADD COLUMN beat_at bigint, ADD COLUMN progress text;
ALTER TABLE handfast.lease SET (fillfactor = 70)
`;
