/**
 * Schema 5: what nodes share beside handoffs and records.
 *
 * `resumed_at` of an event: since when the node that decided it had been there, so that every node judges it alike.
 *
 * `sign`: when each worker was last heard of, by any node. One row each, with no index but its name, so that it stays on its page
 * (HOT); unlogged, since a server that crashed is told anew within a second.
 *
 * `chunk`: streamed output on its way to whoever reads it, in pieces as JSON, since a piece may end within a character. Unlogged:
 * the outcome is authoritative, and what a crash of the server takes with it is only the view on the way there.
 *
 * `artifact_bytes`, `artifact_piece`: what artifacts hold. Pieces are written before their digest is known, under the name of an
 * upload; whoever puts up the same bytes again finds them there. Not compressed, so that a piece is read as it lies.
 */
export const sharedLife = `
ALTER TABLE handfast.event ADD COLUMN resumed_at bigint;

CREATE UNLOGGED TABLE handfast.sign (
  namespace text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  worker text COLLATE "C" NOT NULL,   -- '': of the agent itself
  at bigint NOT NULL,
  asking boolean NOT NULL,
  told_at bigint NOT NULL,
  PRIMARY KEY (namespace, agent, worker)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 25,
  autovacuum_vacuum_cost_delay = 10, autovacuum_vacuum_cost_limit = 1000);

CREATE UNLOGGED TABLE handfast.chunk (
  namespace text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  fence bigint NOT NULL,
  start_at bigint NOT NULL,
  end_at bigint NOT NULL,
  json text NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (namespace, id, fence, start_at)
) WITH (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 10, autovacuum_vacuum_cost_limit = 1000);

CREATE TABLE handfast.artifact_bytes (
  namespace text COLLATE "C" NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  upload text COLLATE "C" NOT NULL UNIQUE,
  size bigint NOT NULL,
  kept_at bigint NOT NULL,
  PRIMARY KEY (namespace, sha256)
);
CREATE TABLE handfast.artifact_piece (
  upload text COLLATE "C" NOT NULL,
  nth integer NOT NULL,
  written_at bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (upload, nth)
);
ALTER TABLE handfast.artifact_piece ALTER COLUMN bytes SET STORAGE EXTERNAL
`;
