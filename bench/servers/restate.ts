/** A single Restate node, durable as it comes: its log is synced before a call is accepted. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { installPackages, packageFile } from "../obtain/npm-packages.ts";
import { isExecutable } from "../obtain/on-path.ts";
import { run } from "../obtain/run.ts";
import { Unavailable } from "../obtain/unavailable.ts";
import { freePort } from "./free-port.ts";
import { usageOf } from "./process-tree.ts";
import type { Place, Server } from "./server.ts";
import { ServerProcess } from "./server-process.ts";

/** 24 by default, for a cluster; on one small machine fewer share their syncs better. */
const partitions = 4;

export async function startRestate({ directory, disk, say }: Place): Promise<Server> {
  await installPackages(say);
  const platform = `restate-server-${process.platform}-${process.arch}`;
  const program = packageFile("@restatedev", platform, "bin/restate-server");
  if (!isExecutable(program)) throw new Unavailable(`npm has no ${platform} here`);
  const [node, admin, ingress] = [await freePort(), await freePort(), await freePort()];
  const file = join(directory, "restate.toml");
  writeFileSync(
    file,
    `cluster-name = "bench"
node-name = "bench"
base-dir = "${directory}"
bind-address = "127.0.0.1:${node}"
advertised-address = "http://127.0.0.1:${node}"
listen-mode = "tcp"
default-num-partitions = ${partitions}
disable-telemetry = true
log-filter = "warn"
log-disable-ansi-codes = true
[admin]
bind-address = "127.0.0.1:${admin}"
disable-web-ui = true
[ingress]
bind-address = "127.0.0.1:${ingress}"
`,
  );
  const command = disk.wrap({ program, args: ["--no-logo", "-c", file], cwd: directory });
  const isReady = async () =>
    (await fetch(`http://127.0.0.1:${admin}/health`)).ok &&
    (await fetch(`http://127.0.0.1:${ingress}/restate/health`)).ok;
  const running = await ServerProcess.start(command, { isReady });
  const version = (await run(program, ["--version"])).trim();
  return {
    address: { admin: `http://127.0.0.1:${admin}`, ingress: `http://127.0.0.1:${ingress}` },
    about: `${version}, one node, ${partitions} partitions, write-ahead logs synced`,
    usage: () => usageOf(running.pid),
    // Its own way out takes seconds, for data that is thrown away.
    stop: () => running.kill(),
  };
}
