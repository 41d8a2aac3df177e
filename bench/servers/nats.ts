/** A NATS server with JetStream on disk, with its default of an fsync every two minutes, or syncing every message. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { obtainNatsServer } from "../obtain/nats-server.ts";
import { Unavailable } from "../obtain/unavailable.ts";
import { connects } from "./connects.ts";
import { freePort } from "./free-port.ts";
import { usageOf } from "./process-tree.ts";
import type { Place, Server } from "./server.ts";
import { ServerProcess } from "./server-process.ts";

export const startNats = (place: Place) => start(place, false);
export const startNatsSync = (place: Place) => start(place, true);

async function start({ directory, disk, say }: Place, sync: boolean): Promise<Server> {
  const server = await obtainNatsServer(say);
  if (sync && !server.knows_sync) {
    throw new Unavailable(`${server.version} does not know sync_interval (2.10 does), and there is no Go to build one`);
  }
  const port = await freePort();
  const file = join(directory, "nats.conf");
  const setting = sync ? "sync_interval: always" : "";
  writeFileSync(file, `listen: 127.0.0.1:${port}\njetstream {\n  store_dir: "${directory}"\n  ${setting}\n}\n`);
  const command = disk.wrap({ program: server.program, args: ["-c", file], cwd: directory });
  const running = await ServerProcess.start(command, { isReady: () => connects(port) });
  return {
    address: { servers: `127.0.0.1:${port}` },
    about: `${server.version}, ${sync ? "sync_interval always" : "sync_interval 2 minutes, as by default"}`,
    usage: () => usageOf(running.pid),
    stop: () => running.stop(),
  };
}
