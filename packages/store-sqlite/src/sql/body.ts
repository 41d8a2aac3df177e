/**
 * Statements on bodies. The handoff's own is beside its accepted part. The first body of a kind and number stays: a
 * second one changes nothing.
 */

export const insertBodies = (rows: number) =>
  `INSERT INTO bodies (handoff, kind, number, document, proof, payload)
   VALUES ${Array(rows).fill("(?, ?, ?, ?, ?, ?)").join(", ")} ON CONFLICT DO NOTHING`;

export const deleteBodiesOfKind = "DELETE FROM bodies WHERE handoff = ? AND kind = ?";
export const deleteBodies = "DELETE FROM bodies WHERE handoff = ?";

export const findHandoffBody = `
  SELECT 'handoff' AS kind, 0 AS number, document, proof, payload FROM accepted
  WHERE handoff = (SELECT pos FROM handoffs WHERE namespace = ? AND id = ?) AND has_body = 1`;

export const findBody = `
  SELECT kind, number, document, proof, payload FROM bodies
  WHERE handoff = (SELECT pos FROM handoffs WHERE namespace = ? AND id = ?) AND kind = ? AND number = ?`;

export const findBodies = `
  SELECT kind, number, document, proof, payload FROM bodies
  WHERE handoff = (SELECT pos FROM handoffs WHERE namespace = ? AND id = ?) ORDER BY rowid`;
