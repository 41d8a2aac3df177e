/**
 * Schema 7: by which request a worker got a lease, so that a claim is not held against everything that its worker holds. Null: a
 * node of before wrote it, and the handoff itself says.
 */
export const leaseRequests = `
ALTER TABLE handfast.lease ADD COLUMN request_id text COLLATE "C"
`;
