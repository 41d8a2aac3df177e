/** A relay of ours in a process of its own, as `npm start` runs it, with its limits out of the way. */

import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { usageOf } from "./process-tree.ts";
import type { Place, Server } from "./server.ts";
import { ServerProcess } from "./server-process.ts";

const main = join(import.meta.dirname, "../../packages/relay/src/main.ts");
/** One sender stands for many here. */
const limits = {
  "requests-per-second": "1000000",
  "request-burst": "1000000",
  "open-handoffs-per-sender": "100000000",
  "log-level": "warn",
};

export interface RelayPlace extends Place {
  /** For Node itself, before the program. */
  readonly node_args?: readonly string[];
  readonly more?: readonly string[];
  /** Default: a free one. */
  readonly port?: number;
}

export interface RelayServer extends Server {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly output: () => string;
  /** From the start of its process until it said it was ready. */
  readonly ready_after_ms: number;
  kill(): Promise<void>;
}

export async function startRelay(place: RelayPlace): Promise<RelayServer> {
  const { directory, disk, node_args = [], more = [], port = await freePort() } = place;
  const url = `http://127.0.0.1:${port}`;
  const options = Object.entries(limits).flatMap(([name, value]) => [`--${name}`, value]);
  const args = [...node_args, main, "--port", `${port}`, "--data", directory, ...options, ...more];
  const command = disk.wrap({ program: process.execPath, args });
  const running = await ServerProcess.start(command, { isReady: async () => (await fetch(`${url}/readyz`)).ok });
  return {
    url,
    port,
    pid: running.pid,
    output: () => running.output,
    ready_after_ms: performance.now() - running.started_at,
    address: { url },
    about: "SQLite, WAL, fdatasync of the log before each confirmation; rate and open limits raised out of the way",
    usage: () => usageOf(running.pid),
    stop: () => running.stop(),
    kill: () => running.kill(),
  };
}
