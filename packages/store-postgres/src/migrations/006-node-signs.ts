/**
 * Schema 6: which nodes there are, and which of them were asked to take no new work. One row for each life of a node, written by
 * itself every second, on its page (HOT) and unlogged: after a crash of the server each says anew how it is.
 */
export const nodeSigns = `
CREATE UNLOGGED TABLE handfast.node (
  life text COLLATE "C" PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  version text COLLATE "C" NOT NULL,
  since bigint NOT NULL,
  asked boolean NOT NULL,   -- to take no new work, by whoever may ask
  draining boolean NOT NULL,   -- it does so
  connections integer NOT NULL,
  calls integer NOT NULL,
  claims integer NOT NULL,
  ended boolean NOT NULL,
  heard_at bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 25,
  autovacuum_vacuum_cost_delay = 10, autovacuum_vacuum_cost_limit = 1000)
`;
