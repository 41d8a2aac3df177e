/** A Redis that syncs its append-only file before every answer (`appendfsync always`). */

import { obtainRedis } from "../obtain/debian-redis.ts";
import { run } from "../obtain/run.ts";
import { connects } from "./connects.ts";
import { freePort } from "./free-port.ts";
import { usageOf } from "./process-tree.ts";
import type { Place, Server } from "./server.ts";
import { ServerProcess } from "./server-process.ts";

/** "Redis server v=…", without the build's marks that follow. */
const version_characters = 22;

export async function startRedis({ directory, disk, say }: Place): Promise<Server> {
  const { program, libraries } = await obtainRedis(say);
  const env = libraries === null ? {} : { LD_LIBRARY_PATH: libraries };
  const version = (await run(program, ["--version"], { env: { ...process.env, ...env } }))
    .trim()
    .slice(0, version_characters);
  const port = await freePort();
  const settings = {
    port: `${port}`,
    bind: "127.0.0.1",
    dir: directory,
    appendonly: "yes",
    appendfsync: "always",
    // A rewrite in the middle of a figure would be held against it.
    "auto-aof-rewrite-percentage": "0",
    // Snapshots would only take time from it: the append-only file is what makes it durable.
    save: "",
    "maxmemory-policy": "noeviction",
  };
  const command = disk.wrap({
    program,
    args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    env,
  });
  const running = await ServerProcess.start(command, { isReady: () => connects(port) });
  return {
    address: { host: "127.0.0.1", port: `${port}` },
    about: `${version}, appendonly yes, appendfsync always, no snapshots`,
    usage: () => usageOf(running.pid),
    stop: () => running.stop(),
  };
}
