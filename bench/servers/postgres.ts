/** A PostgreSQL with a fresh data directory: durable as it comes, with memory and checkpoints set for a queue. */

import { appendFileSync, chownSync } from "node:fs";
import { join } from "node:path";
import { obtainPostgres } from "../obtain/postgres.ts";
import { run } from "../obtain/run.ts";
import { connects } from "./connects.ts";
import { freePort } from "./free-port.ts";
import { usageOf } from "./process-tree.ts";
import type { Place, Server } from "./server.ts";
import { ServerProcess } from "./server-process.ts";

const user = "bench";
/** fsync and synchronous_commit stay on, as they are by default. */
const settings = {
  listen_addresses: "'127.0.0.1'",
  unix_socket_directories: "''",
  max_connections: "200",
  shared_buffers: "256MB",
  // A checkpoint in the middle of a measurement would hit it alone.
  max_wal_size: "4GB",
  checkpoint_timeout: "15min",
};

/** Where a database is lent there is nothing to start. */
export async function startPostgres({ directory, disk, say, database }: Place): Promise<Server> {
  if (database !== undefined) {
    const { url, about, usage } = database;
    return { address: { url }, about, usage, stop: async () => {} };
  }
  const { folder, version, uid } = await obtainPostgres(say);
  const as = uid === undefined ? {} : { uid };
  if (uid !== undefined) chownSync(directory, uid, uid);
  const data = join(directory, "data");
  const init = ["-D", data, "-U", user, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
  await run(join(folder, "initdb"), init, { ...as, cwd: directory });
  const port = await freePort();
  const lines = Object.entries({ port, ...settings }).map(([name, value]) => `${name} = ${value}\n`);
  appendFileSync(join(data, "postgresql.conf"), lines.join(""));
  const command = disk.wrap({ program: join(folder, "postgres"), args: ["-D", data], cwd: directory, ...as });
  // SIGQUIT is its immediate shutdown: it leaves nothing behind in the system, and its data is thrown away.
  const running = await ServerProcess.start(command, { isReady: () => connects(port), signal: "SIGQUIT" });
  return {
    address: { url: `postgres://${user}@127.0.0.1:${port}/postgres` },
    about: `${version}, fsync and synchronous_commit on, shared_buffers ${settings.shared_buffers}`,
    usage: () => usageOf(running.pid),
    stop: () => running.stop(),
  };
}
