/** Statements on the outbox: what transactions of others have left to be handed over. */

/**
 * Rows are walked in order, and no further than they are taken: sorted first, each of them would lock its ordering key, and
 * other nodes would find nothing.
 */
export const beginTaking = `
  BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off`;

/** "handfast", as a seed: what else is locked by a hash has another. */
const seed = 1751215716;

/**
 * The oldest that nobody else is taking. Those of one ordering key are one node's until its transaction ends, and none passes one
 * that was put off, so that they are never handed over out of order.
 */
export const takePosted = `
  SELECT num, namespace, id::text AS id, agent, capability, input::text AS input, options::text AS options, tries,
    options ->> 'ordering_key' AS ordering_key,
    (extract(epoch FROM clock_timestamp() - posted_at) * 1000)::float8 AS waited_ms
  FROM handfast.outbox
  WHERE trouble IS NULL AND not_before <= clock_timestamp() AND (options ->> 'ordering_key' IS NULL OR (
    NOT EXISTS (
      SELECT 1 FROM handfast.outbox AS earlier
      WHERE earlier.agent = outbox.agent AND earlier.options ? 'ordering_key'
        AND earlier.options ->> 'ordering_key' = outbox.options ->> 'ordering_key'
        AND earlier.num < outbox.num AND earlier.trouble IS NULL AND earlier.not_before > clock_timestamp()
    )
    AND pg_try_advisory_xact_lock(hashtextextended(agent || ' ' || (options ->> 'ordering_key'), ${seed}))
  ))
  ORDER BY num LIMIT $1 FOR UPDATE SKIP LOCKED`;

/**
 * Which of those taken have passed an earlier one of their ordering key: another node had that key while its first rows were walked over, and
 * let go of it before its last were. It is asked once the key is held, of what is there by then.
 */
export const findPassing = `
  SELECT num FROM handfast.outbox
  WHERE num = ANY ($1::bigint[]) AND options ? 'ordering_key' AND EXISTS (
    SELECT 1 FROM handfast.outbox AS earlier
    WHERE earlier.agent = outbox.agent AND earlier.options ? 'ordering_key'
      AND earlier.options ->> 'ordering_key' = outbox.options ->> 'ordering_key'
      AND earlier.num < outbox.num AND earlier.trouble IS NULL AND earlier.num <> ALL ($1::bigint[])
  )`;

/** Whether there is anything at all: asked far more often than there is. */
export const isAnyPosted = `
  SELECT EXISTS (SELECT 1 FROM handfast.outbox WHERE trouble IS NULL AND not_before <= clock_timestamp()) AS any`;

export const dropPosted = "DELETE FROM handfast.outbox WHERE num = ANY ($1::bigint[])";
export const putOff = `
  UPDATE handfast.outbox SET tries = tries + 1, not_before = clock_timestamp() + $2::float8 * interval '1 millisecond'
  WHERE num = $1::bigint`;
export const leaveAlone = "UPDATE handfast.outbox SET trouble = $2 WHERE num = $1::bigint";

export const countPosted = "SELECT count(*) AS rows FROM handfast.outbox";
