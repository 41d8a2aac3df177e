/** The server's clock, in milliseconds: the one that all nodes go by. */

export const clock = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
/** To a channel: who sends it, and since when, by this clock, there was something to tell. */
export const sendSignal = `SELECT pg_notify($1, $2::text || ' ' || (${clock} - $3::bigint))`;
export const readClock = `SELECT ${clock} AS now`;
