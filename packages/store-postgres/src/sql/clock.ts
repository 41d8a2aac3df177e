/** The server's clock, in milliseconds: the one that all nodes go by. */

export const clock = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
export const readClock = `SELECT ${clock} AS now`;
