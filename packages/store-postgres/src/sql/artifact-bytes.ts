/** Statements on the bytes of artifacts. */

export const putPiece = `
  INSERT INTO handfast.artifact_piece (upload, nth, written_at, bytes) VALUES ($1, $2, $3, decode($4, 'base64'))`;

/**
 * Durable whatever the session says: with this commit the pieces that were written before it are flushed too. Where the same bytes
 * are there, theirs stay and the upload's own go; what another is removing at the same time is waited for.
 */
export const keepBytes = `
  INSERT INTO handfast.artifact_bytes AS known (namespace, sha256, upload, size, kept_at)
  SELECT $1, $2, $3, $4, $5 FROM set_config('synchronous_commit', 'on', true)
  ON CONFLICT (namespace, sha256) DO UPDATE SET kept_at = greatest(known.kept_at, excluded.kept_at)
  RETURNING upload`;

export const dropUpload = `
  DELETE FROM handfast.artifact_piece WHERE upload = $1
    AND NOT EXISTS (SELECT FROM handfast.artifact_bytes WHERE artifact_bytes.upload = $1)`;

export const findSize = "SELECT size FROM handfast.artifact_bytes WHERE namespace = $1 AND sha256 = $2";

export const findPiece = `
  SELECT bytes FROM handfast.artifact_bytes JOIN handfast.artifact_piece USING (upload)
  WHERE namespace = $1 AND sha256 = $2 AND nth = $3`;

export const removeBytes = `
  WITH gone AS (
    DELETE FROM handfast.artifact_bytes WHERE namespace = $1 AND sha256 = $2 AND kept_at < $3 RETURNING upload
  )
  DELETE FROM handfast.artifact_piece USING gone WHERE artifact_piece.upload = gone.upload`;

export const listBytes = `
  SELECT sha256, kept_at FROM handfast.artifact_bytes WHERE namespace = $1 AND sha256 > $2 ORDER BY sha256 LIMIT $3`;

export const sweepPieces = `
  DELETE FROM handfast.artifact_piece WHERE written_at < $1
    AND NOT EXISTS (SELECT FROM handfast.artifact_bytes WHERE artifact_bytes.upload = artifact_piece.upload)`;
