/**
 * Schema 4: which records were written, in order, so that nodes which keep them in memory learn what others made of them. The
 * positions are dense and become visible in order, as those of the log; what is old is dropped from the beginning, and the newest
 * always stays: it says where the next one stands.
 */
export const recordChanges = `
CREATE TABLE handfast.record_change (
  pos bigint PRIMARY KEY,
  namespace text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  node text COLLATE "C" NOT NULL,   -- the life of the node that wrote it
  at timestamptz NOT NULL
)
`;
