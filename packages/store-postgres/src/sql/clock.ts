/** The server's clock, in milliseconds: the one that all nodes go by. */

export const clock = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
/** To a channel: who sends it, since when, by this clock, there was something to tell, and what. */
export const sendSignal = `SELECT pg_notify($1, $2::text || ' ' || (${clock} - $3::bigint) || ' ' || $4::text)`;
export const readClock = `SELECT ${clock} AS now`;
