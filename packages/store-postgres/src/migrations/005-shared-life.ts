/**
 * Schema 5: what nodes share beside handoffs and records.
 *
 * `resumed_at` of an event: since when the node that decided it had been there, so that every node judges it alike.
 *
 * `sign`: when each worker was last heard of, by any node. One row each, with no index but its name, so that it stays on its page
 * (HOT); unlogged, since a server that crashed is told anew within a second.
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
  autovacuum_vacuum_cost_delay = 10, autovacuum_vacuum_cost_limit = 1000)
`;
