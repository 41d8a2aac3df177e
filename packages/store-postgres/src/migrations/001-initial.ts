/**
 * Schema 1.
 *
 * `num` is a handoff's number, in the order of accept; the tables around it refer to it. `accepted` is written once. `handoff`
 * is what changes, and has no index but its key, so that every change stays on its page (HOT) and touches no index; what a
 * handoff is found by while it is so is a row of its own in `ready`, `timer`, `lease` or `facet`, which comes and goes.
 *
 * `event` is the log. Its positions are given under a lock at the end of a transaction, so that they become visible in
 * order. It is partitioned by position, which follows time: old partitions are dropped whole.
 *
 * `tally` has no row that everybody changes: each commit adds what it changed, and upkeep sums up.
 *
 * Texts compare by bytes ("C"), as in SQLite: no order depends on the server's locale.
 */
export const initial = `
CREATE SEQUENCE handfast.handoff_num AS bigint;

CREATE TABLE handfast.accepted (
  num bigint PRIMARY KEY,
  namespace text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  sender text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  content text COLLATE "C" NOT NULL,
  addressee text COLLATE "C",
  capability text COLLATE "C",
  correlation_id text COLLATE "C",  -- null: the handoff's own id
  causation_id text COLLATE "C",
  detached boolean NOT NULL,
  accepted_at bigint NOT NULL,
  deadline_at bigint NOT NULL,
  version_range text COLLATE "C",
  canary text COLLATE "C",
  conversation_id text COLLATE "C",
  json text NOT NULL,
  has_body boolean NOT NULL,        -- whether the three columns below are the handoff's body
  document text,
  proof text,
  payload bytea
);
CREATE UNIQUE INDEX accepted_id ON handfast.accepted (namespace, id);
CREATE UNIQUE INDEX accepted_key ON handfast.accepted (namespace, sender, key);
CREATE INDEX accepted_at ON handfast.accepted (accepted_at);
CREATE INDEX accepted_sender ON handfast.accepted (namespace, sender, num);
CREATE INDEX accepted_addressee ON handfast.accepted (namespace, addressee, num) WHERE addressee IS NOT NULL;
CREATE INDEX accepted_capability ON handfast.accepted (namespace, capability, num) WHERE capability IS NOT NULL;
CREATE INDEX accepted_correlation ON handfast.accepted (namespace, correlation_id, num) WHERE correlation_id IS NOT NULL;
CREATE INDEX accepted_causation ON handfast.accepted (namespace, causation_id, num) WHERE causation_id IS NOT NULL;
CREATE INDEX accepted_conversation ON handfast.accepted (namespace, conversation_id, num)
  WHERE conversation_id IS NOT NULL;
CREATE INDEX accepted_elsewhere ON handfast.accepted (namespace, num) WHERE namespace <> 'default';

CREATE TABLE handfast.handoff (
  num bigint PRIMARY KEY,
  version integer NOT NULL,
  state text COLLATE "C" NOT NULL,
  code integer,
  open boolean NOT NULL,
  queue text COLLATE "C",
  rank double precision NOT NULL,
  wake_at bigint,
  lane text COLLATE "C",
  holder_agent text COLLATE "C",
  holder_worker text COLLATE "C",
  last_agent text COLLATE "C",      -- null also where it is the addressee
  untaken boolean NOT NULL,
  dead_letter text COLLATE "C",
  question_to text COLLATE "C",
  excluded jsonb,                   -- array of names; null: nobody
  json text NOT NULL                -- the record without its accepted part
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 25,
  autovacuum_vacuum_cost_delay = 10, autovacuum_vacuum_cost_limit = 1000);

CREATE TABLE handfast.ready (
  num bigint PRIMARY KEY,
  namespace text COLLATE "C" NOT NULL,
  queue text COLLATE "C" NOT NULL,
  rank double precision NOT NULL,
  excluded jsonb
) WITH (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 25,
  autovacuum_vacuum_cost_delay = 10, autovacuum_vacuum_cost_limit = 1000);
CREATE INDEX ready_rank ON handfast.ready (namespace, queue, rank, num);

CREATE TABLE handfast.timer (
  num bigint PRIMARY KEY,
  wake_at bigint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 25,
  autovacuum_vacuum_cost_delay = 10, autovacuum_vacuum_cost_limit = 1000);
CREATE INDEX timer_wake ON handfast.timer (wake_at, num);

CREATE TABLE handfast.lease (
  num bigint PRIMARY KEY,
  namespace text COLLATE "C" NOT NULL,
  agent text COLLATE "C" NOT NULL,
  worker text COLLATE "C" NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 25,
  autovacuum_vacuum_cost_delay = 10, autovacuum_vacuum_cost_limit = 1000);
CREATE INDEX lease_holder ON handfast.lease (namespace, agent, worker, num);

CREATE TABLE handfast.facet (
  namespace text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  num bigint NOT NULL,
  PRIMARY KEY (namespace, kind, value, num)
) WITH (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 25,
  autovacuum_vacuum_cost_delay = 10, autovacuum_vacuum_cost_limit = 1000);

CREATE TABLE handfast.body (
  num bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  place bigint GENERATED ALWAYS AS IDENTITY,
  document text,
  proof text,
  payload bytea,
  PRIMARY KEY (num, kind, number)
);

CREATE TABLE handfast.artifact (
  namespace text COLLATE "C" NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  num bigint NOT NULL,
  PRIMARY KEY (namespace, sha256, num)
);
CREATE INDEX artifact_num ON handfast.artifact (num);

-- Keys of handoffs that were purged; the key of one that is there stands in accepted.
CREATE TABLE handfast.kept_key (
  namespace text COLLATE "C" NOT NULL,
  sender text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  content text COLLATE "C" NOT NULL,
  until bigint NOT NULL,
  PRIMARY KEY (namespace, sender, key)
);
CREATE INDEX kept_key_until ON handfast.kept_key (until);
CREATE INDEX kept_key_id ON handfast.kept_key (namespace, id);

-- How many handoffs came into each state, less those that left it.
CREATE TABLE handfast.tally (
  namespace text COLLATE "C" NOT NULL,
  sender text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  number bigint NOT NULL
);

CREATE TABLE handfast.event (
  pos bigint PRIMARY KEY,
  namespace text COLLATE "C" NOT NULL,
  handoff text COLLATE "C" NOT NULL,  -- '': an entry of no handoff
  correlation_id text COLLATE "C",    -- null: the handoff's own id
  at bigint NOT NULL,
  agents jsonb NOT NULL,              -- the names that it is found by
  json text NOT NULL
) PARTITION BY RANGE (pos);
CREATE INDEX event_handoff ON handfast.event (namespace, handoff, pos);
CREATE INDEX event_correlation ON handfast.event (namespace, correlation_id, pos) WHERE correlation_id IS NOT NULL;
CREATE INDEX event_at ON handfast.event (at, pos);

-- What is left of events that were pruned.
CREATE TABLE handfast.log (
  floor bigint NOT NULL,
  latest bigint NOT NULL
);
INSERT INTO handfast.log VALUES (0, 0);

CREATE TABLE handfast.record (
  namespace text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  json text NOT NULL,
  PRIMARY KEY (namespace, kind, key)
) WITH (fillfactor = 70)
`;
