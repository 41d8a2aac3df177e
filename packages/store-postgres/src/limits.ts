/** Every limit and setting of the PostgreSQL store, in one place. */

/** The oldest server whose features the statements use (`pg_terminate_backend` that waits). */
export const oldest_server = { number: 140_000, name: "14" } as const;

/** Connections for reading, besides the one that writes. */
export const pool_connections = 4;
/** Statements that each load what was asked for one by one; the other connections stay free for what a batch reads. */
export const loads_at_once = 2;
export const connect_timeout_s = 5;

/**
 * A commit or a read that takes longer is given up: a network that swallows everything tells nobody. Half the time of a lease, so
 * that whoever called is told, and has gone to another node, before it is lost.
 */
export const answer_timeout_ms = 15_000;
/**
 * Dropping what is old writes more than a commit does. Commits wait behind it, so that meanwhile the server is asked now and then whether it
 * is there at all: where it is not, that is known as soon as of a commit.
 */
export const prune_timeout_ms = 60_000;
export const still_there_pause_ms = 5_000;
export const still_there_ms = answer_timeout_ms - still_there_pause_ms;
/**
 * The server itself ends a transaction that a node began and forgot: what it had locked holds others up for so long, which is
 * less than they wait for an answer.
 */
export const forgotten_transaction_ms = 5_000;

/** A commit that the server rolled back because of another node is decided and written anew so many times. */
export const commit_attempts = 8;

/**
 * A step of the schema waits so long for a table that others are at, with everybody behind it who comes to that table; then it leaves
 * them their turn, and tries again, for so long in all.
 */
export const step_wait_ms = 500;
export const step_pause_ms = 1_000;
export const step_patience_ms = 60_000;

/** Rows that a node remembers as it wrote them, about 500 bytes each. */
export const written_rows = 20_000;
/** Numbers for new handoffs are taken so many at once, ahead, and given out for so long. */
export const numbers_at_once = 256;
export const number_kept_ms = 1_000;
/** Events that a node keeps as it wrote them, until it has followed the log past them. */
export const own_events = 20_000;
/** Statements that are put together of parts: the server keeps each that it has prepared. */
export const most_combinations = 100;

/** For so long `recover` goes on trying to reach a server that restarts or is replaced by its standby; then it is asked again. */
export const recover_ms = 10_000;
export const recover_pause_ms = 200;
/** A start in the middle of a failover waits so long for one of several hosts to be the primary. */
export const first_patience_ms = 15_000;
/** How long to wait for the end of a connection whose last answer never came. */
export const last_words_ms = 5_000;

/** After the server said that its disk is full, submits are refused for so long before the next try. */
export const full_ms = 10_000;

/** How long a database's size is good for: asking the server means looking at every file. */
export const size_good_for_ms = 30_000;

/** What the server says of transactions that hold it back is good for so long: whoever scrapes often asks no more often. */
export const held_good_for_ms = 5_000;

/** Units after which a store that was just opened has its tables counted, then after four times as many; and when it no more does. */
export const count_after_writes = 300;
export const count_until_writes = 100_000;

/** Positions of the log in one partition, and how many of them are prepared ahead of the head. */
export const partition_positions = 4_000_000;
export const partitions_ahead = 2;
/** How long dropping a partition may wait for readers of the log before it is left for the next time. */
export const drop_wait_ms = 200;

/** A node of which nothing was heard for so long need not be told of anything. */
export const node_gone_ms = 60_000;

/** Signs of life are told to other nodes within so long, or not at all; and are kept for those so long. */
export const sign_travels_ms = 5_000;
export const sign_kept_ms = 600_000;

/** Streamed output is kept so long after the handoff's end, and at most so many characters of it. */
export const chunk_kept_ms = 600_000;
export const chunk_characters = 256 * 1_048_576;
/** The server takes no longer message with a signal. */
export const signal_bytes = 7_500;

/** Artifacts are written and read in pieces of so many bytes. */
export const artifact_piece_bytes = 262_144;

/** Rows that a list looks at in one statement. */
export const scan_rows = 2_000;

/** Clocks of nodes differ by less: where a time says where to begin to look, so much is looked at besides. */
export const clock_slack_ms = 60_000;

/** Which records changed is known for so long: a node that was away for longer reads all of them anew. */
export const record_changes_kept_ms = 600_000;

/** With so many rows the tally of states is summed up. */
export const tally_rows = 1_000;

/** Where a whole store is read or written: rows in one statement, and about how many bytes of them. */
export const kept_rows = 500;
export const kept_bytes = 4_000_000;
