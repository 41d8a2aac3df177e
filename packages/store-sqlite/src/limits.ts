/** Every limit and setting of the SQLite store, in one place. */

/** How long to wait for a lock that only a foreign tool (a shell, a copy program) can hold. */
export const busy_timeout_ms = 2_000;

/**
 * With so many pages not yet moved, the reader thread is asked to move the write-ahead log into the database. Against
 * the writer doing it itself neither throughput nor p99 differed measurably (3 interleaved runs at batches of 1, 64, 256).
 * Counted by what is not yet moved: by the log's whole length the thread hardly rests (40 % more CPU at batches of 1).
 */
export const checkpoint_pages = 1_000;

/**
 * The writer's own bound for the write-ahead log. SQLite begins the log anew only when all of it was moved, which
 * the thread alone may never reach under steady load; here the writer moves what the thread has left.
 */
export const checkpoint_bound_pages = 4_000;

/** Page cache of one connection, in KiB: room for the hot ends of all indexes beside a large backlog. */
export const cache_kib = 64 * 1024;

/** Rows that a list or an export looks at in one read transaction: long ones keep the write-ahead log from shrinking. */
export const scan_rows = 2_000;
/** The same where most rows are passed over without leaving SQLite. */
export const range_rows = 8_000;

/** Up to here the events of one handoff are read at once on the writer's connection, sparing the way to the thread. */
export const direct_events = 256;

/** Pages copied in one step of a backup, after which it tells its progress: a megabyte. */
export const backup_pages = 256;

/** Rows of which the writer remembers what it wrote, at least; at most twice as many. About 300 bytes each. */
export const known_rows = 20_000;

/** Every so many commits the write-ahead log's length is asked for: far more often than it can fill up. */
export const commits_per_look = 8;

/** Rows written by one statement; more bring next to nothing. */
export const rows_per_insert = 16;
