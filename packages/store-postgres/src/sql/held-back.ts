/**
 * What keeps old rows from being cleaned up: snapshots and unfinished transactions in this database, standbys that ask for it, slots,
 * prepared transactions. Vacuum itself, and whoever asks, hold nothing back. Of other users' sessions the server shows this only to
 * members of pg_read_all_stats.
 */
export const findHeldBack = `
  SELECT holder, max(transactions) AS transactions, max(seconds) AS seconds FROM (
    SELECT CASE backend_type WHEN 'walsender' THEN 'standby' ELSE 'session' END AS holder,
      greatest(age(backend_xid), age(backend_xmin)) AS transactions,
      extract(epoch FROM clock_timestamp() - xact_start)::float8 AS seconds
    FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND backend_type <> 'autovacuum worker'
      AND (backend_xid IS NOT NULL OR backend_xmin IS NOT NULL)
      AND (datname = current_database() OR datname IS NULL)
    UNION ALL
    SELECT 'slot', age(xmin), NULL FROM pg_replication_slots WHERE xmin IS NOT NULL
    UNION ALL
    SELECT 'prepared', age(transaction), extract(epoch FROM clock_timestamp() - prepared)::float8
    FROM pg_prepared_xacts WHERE database = current_database()
  ) AS held GROUP BY holder`;
