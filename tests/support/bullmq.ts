/** BullMQ and a Redis for it, for a test: as the benchmark has them, but of its npm packages this one alone. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../../bench/obtain/cache.ts";
import { obtainRedis } from "../../bench/obtain/debian-redis.ts";
import { packageFile } from "../../bench/obtain/npm-packages.ts";
import { run } from "../../bench/obtain/run.ts";
import { connects } from "../../bench/servers/connects.ts";
import { freePort } from "../../bench/servers/free-port.ts";
import { ServerProcess } from "../../bench/servers/server-process.ts";

export interface Bullmq {
  /** The folder of the npm package. */
  readonly folder: string;
  readonly redis_port: number;
  stop(): Promise<unknown>;
}

const peers = join(import.meta.dirname, "../../bench/peers/package.json");

/** Throws where it cannot be had here. */
export async function startBullmq(directory: string): Promise<Bullmq> {
  const say = () => {};
  const { program, libraries } = await obtainRedis(say);
  const folder = await obtainPackage();
  const redis_port = await freePort();
  const settings = ["--port", `${redis_port}`, "--bind", "127.0.0.1", "--dir", directory, "--save", ""];
  const env: Readonly<Record<string, string>> = libraries === null ? {} : { LD_LIBRARY_PATH: libraries };
  const server = await ServerProcess.start({ program, args: settings, env }, { isReady: () => connects(redis_port) });
  return { folder, redis_port, stop: () => server.stop() };
}

async function obtainPackage(): Promise<string> {
  if (existsSync(packageFile("bullmq", "package.json"))) return packageFile("bullmq");
  const { dependencies } = JSON.parse(readFileSync(peers, "utf8"));
  // Which it loads from beside itself.
  const wanted = ["bullmq", "ioredis"].map((name) => `${name}@${dependencies[name]}`);
  const place = cacheFolder(wanted.join("-"));
  const folder = join(place, "node_modules/bullmq");
  if (existsSync(folder)) return folder;
  const quietly = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save"];
  await run("npm", ["install", "--prefix", place, ...quietly, ...wanted]);
  return folder;
}
