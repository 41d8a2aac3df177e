/** Every limit and setting of the SQLite store, in one place. */

/** How long to wait for a lock that only a foreign tool (a shell, a copy program) can hold. */
export const busy_timeout_ms = 2_000;

/** From this size on the reader thread is asked to move the write-ahead log into the database. */
export const checkpoint_pages = 1_000;

/**
 * The writer's own bound for the write-ahead log. Under steady load the thread alone never catches the last pages, and
 * the log would grow for ever; here the writer moves the rest itself, most of which the thread has already done.
 */
export const checkpoint_bound_pages = 4_000;

/** Page cache of one connection, in KiB: SQLite's own 2 MB made indexes of a million handoffs fall out of it. */
export const cache_kib = 64 * 1024;

/** Rows that a list or an export looks at in one read transaction: long ones keep the write-ahead log from shrinking. */
export const scan_rows = 2_000;

/** Up to here the events of one handoff are read at once on the writer's connection, sparing the way to the thread. */
export const direct_events = 256;

/** Pages copied in one step of a backup: about a millisecond in which the writer waits. */
export const backup_pages = 256;
