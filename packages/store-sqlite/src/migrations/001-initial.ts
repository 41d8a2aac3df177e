/**
 * Schema 1.
 *
 * `pos` is the place in the log. A handoff's row carries the pos of its accept event: accept order, a key of a few
 * bytes in every index, and a stable order for pages. The tables around it refer to it by that number, which is found
 * by (namespace, id) only, so that no query can cross namespaces.
 *
 * `handoffs` holds what changes; the parts that never change are written once in `accepted` and `bodies`.
 * What an index costs is paid on every change of its columns (SQLite rewrites the entry of each column that an UPDATE
 * names), so indexes are partial, and a column that only repeats another is null. Measured by dropping them: the ten
 * secondary indexes that a full cycle touches (submit with delivery, ack, complete, take; three bodies, five events)
 * take a fifth of its CPU (177 µs with, 140 µs without, at batches of 256); no single one could be told from the noise.
 *
 * AUTOINCREMENT keeps positions from being given twice after the log was pruned. (Schema 2 does without: it does cost.)
 */
export const initial = `
CREATE TABLE handoffs (
  pos INTEGER PRIMARY KEY,
  namespace TEXT NOT NULL,
  id TEXT NOT NULL,
  sender TEXT NOT NULL,
  addressee TEXT,
  capability TEXT,
  correlation_id TEXT,            -- null: the handoff's own id
  causation_id TEXT,
  detached INTEGER NOT NULL,
  accepted_at INTEGER NOT NULL,
  version INTEGER NOT NULL,
  state TEXT NOT NULL,
  code INTEGER,
  open INTEGER NOT NULL,
  queue TEXT,
  rank REAL NOT NULL,
  wake_at INTEGER,
  lane TEXT,
  holder_agent TEXT,
  holder_worker TEXT,
  last_agent TEXT,                -- null also where it is the addressee
  untaken INTEGER NOT NULL,
  dead_letter TEXT,
  question_to TEXT,
  excluded TEXT,                  -- JSON array; null: nobody
  json TEXT NOT NULL              -- the record without its accepted part
) STRICT;
CREATE UNIQUE INDEX handoffs_id ON handoffs (namespace, id);
CREATE INDEX handoffs_all ON handoffs (namespace);
CREATE INDEX handoffs_sender ON handoffs (namespace, sender);
CREATE INDEX handoffs_addressee ON handoffs (namespace, addressee) WHERE addressee IS NOT NULL;
CREATE INDEX handoffs_capability ON handoffs (namespace, capability) WHERE capability IS NOT NULL;
CREATE INDEX handoffs_last_agent ON handoffs (namespace, last_agent) WHERE last_agent IS NOT NULL;
CREATE INDEX handoffs_correlation ON handoffs (namespace, correlation_id) WHERE correlation_id IS NOT NULL;
CREATE INDEX handoffs_causation ON handoffs (namespace, causation_id) WHERE causation_id IS NOT NULL;
CREATE INDEX handoffs_open_children ON handoffs (namespace, causation_id)
  WHERE causation_id IS NOT NULL AND open = 1 AND detached = 0;
CREATE INDEX handoffs_open ON handoffs (namespace) WHERE open = 1;
CREATE INDEX handoffs_ended_badly ON handoffs (namespace, state)
  WHERE state IN ('failed', 'rejected', 'canceled', 'expired');
CREATE INDEX handoffs_code ON handoffs (namespace, code) WHERE code <> 200;
CREATE INDEX handoffs_ready ON handoffs (namespace, queue, rank, pos, excluded) WHERE queue IS NOT NULL;
CREATE INDEX handoffs_wake ON handoffs (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX handoffs_lane ON handoffs (namespace, lane) WHERE lane IS NOT NULL;
CREATE INDEX handoffs_holder ON handoffs (namespace, holder_agent, holder_worker) WHERE holder_agent IS NOT NULL;
CREATE INDEX handoffs_untaken ON handoffs (namespace, sender) WHERE untaken = 1;
CREATE INDEX handoffs_dead_letter ON handoffs (namespace, dead_letter) WHERE dead_letter IS NOT NULL;
CREATE INDEX handoffs_question ON handoffs (namespace, question_to) WHERE question_to IS NOT NULL;

CREATE TABLE accepted (
  handoff INTEGER PRIMARY KEY,
  json TEXT NOT NULL
) STRICT;

CREATE TABLE bodies (
  handoff INTEGER NOT NULL,
  kind TEXT NOT NULL,
  number INTEGER NOT NULL,
  document TEXT,
  proof TEXT,
  payload BLOB
) STRICT;
CREATE UNIQUE INDEX bodies_key ON bodies (handoff, kind, number);

CREATE TABLE labels (
  namespace TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  handoff INTEGER NOT NULL,
  PRIMARY KEY (namespace, key, value, handoff)
) STRICT, WITHOUT ROWID;

CREATE TABLE artifacts (
  namespace TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  handoff INTEGER NOT NULL,
  PRIMARY KEY (namespace, sha256, handoff)
) STRICT, WITHOUT ROWID;
CREATE INDEX artifacts_handoff ON artifacts (handoff);

CREATE TABLE keys (
  namespace TEXT NOT NULL,
  sender TEXT NOT NULL,
  key TEXT NOT NULL,
  id TEXT NOT NULL,
  content TEXT NOT NULL,
  until INTEGER,                  -- set when the handoff is purged
  PRIMARY KEY (namespace, sender, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX keys_until ON keys (until) WHERE until IS NOT NULL;
CREATE INDEX keys_purged ON keys (namespace, id) WHERE until IS NOT NULL;

CREATE TABLE counts (
  namespace TEXT NOT NULL,
  sender TEXT NOT NULL,
  state TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (namespace, sender, state)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  pos INTEGER PRIMARY KEY AUTOINCREMENT,
  namespace TEXT NOT NULL,
  handoff TEXT NOT NULL,
  correlation_id TEXT,            -- null: the handoff's own id
  at INTEGER NOT NULL,
  json TEXT NOT NULL
) STRICT;
CREATE INDEX events_handoff ON events (namespace, handoff);
CREATE INDEX events_correlation ON events (namespace, correlation_id) WHERE correlation_id IS NOT NULL;

-- What is left of events that were pruned.
CREATE TABLE log (
  floor INTEGER NOT NULL,
  latest INTEGER NOT NULL
) STRICT;
INSERT INTO log VALUES (0, 0);

CREATE TABLE records (
  namespace TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  version INTEGER NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (namespace, kind, key)
) STRICT, WITHOUT ROWID
`;
