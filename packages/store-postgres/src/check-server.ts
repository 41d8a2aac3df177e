/** Whether the server at the other end is one that the store can rely on. */

import type { Asks } from "./connection.ts";
import { notPostgres, PostgresStoreError, standby, takesNoWrites } from "./errors.ts";
import { oldest_server } from "./limits.ts";
import { number, text, truth } from "./rows.ts";

export interface Backend {
  readonly pid: number;
  /** A number may be given again; not at the same moment. */
  readonly since: string;
}

/** Durable commits are set for the session; what a session cannot set is refused. */
export async function checkServer(connection: Asks, place: string, may_lose: boolean): Promise<Backend> {
  const [named] = await connection.ask("SELECT version() AS version");
  const version = text(named, "version");
  if (!version.startsWith("PostgreSQL ")) throw notPostgres(place, version);
  const [server] = await connection.ask(`
    SELECT current_setting('server_version_num')::integer AS number,
      pg_is_in_recovery() AS standby,
      current_setting('transaction_read_only')::boolean AS read_only,
      current_setting('server_encoding') AS encoding,
      current_setting('fsync') AS fsync,
      current_setting('full_page_writes') AS full_page_writes,
      pg_backend_pid() AS pid,
      (SELECT backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS since`);
  if (number(server, "number") < oldest_server.number) throw notPostgres(place, version);
  if (truth(server, "standby")) throw standby(place);
  if (truth(server, "read_only")) throw takesNoWrites(place);
  const encoding = text(server, "encoding");
  if (encoding !== "UTF8") {
    const message = `The database at ${place} has the encoding ${encoding}. Create one with UTF8: createdb -E UTF8 -T template0.`;
    throw new PostgresStoreError("foreign", message);
  }
  for (const setting of ["fsync", "full_page_writes"]) {
    if (may_lose || text(server, setting) === "on") continue;
    const message = `The server at ${place} runs with ${setting} off: acknowledged work could be lost. Turn it on in postgresql.conf.`;
    throw new PostgresStoreError("not_durable", message);
  }
  // Where standbys are to confirm more than their disk (remote_apply), that stays.
  await connection.ask(`
    SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')`);
  return { pid: number(server, "pid"), since: text(server, "since") };
}
