/**
 * nats-server: one on PATH that is new enough for `sync_interval` (2.10), else built once by Go from its module. Debian's
 * is 2.9, which knows only the default of an fsync every two minutes.
 */

import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "./cache.ts";
import { onPath } from "./on-path.ts";
import { run } from "./run.ts";
import type { Say } from "./say.ts";
import { reasonOf, Unavailable } from "./unavailable.ts";

const version = "v2.15.2";

export interface NatsServer {
  readonly program: string;
  readonly version: string;
  readonly knows_sync: boolean;
}

export async function obtainNatsServer(say: Say): Promise<NatsServer> {
  const installed = onPath("nats-server");
  const found = installed === null ? null : await inspect(installed);
  if (found?.knows_sync) return found;
  try {
    return await build(say);
  } catch (error) {
    if (found !== null) return found;
    throw error;
  }
}

async function build(say: Say): Promise<NatsServer> {
  const folder = cacheFolder(`nats-${version}`);
  const program = join(folder, "nats-server");
  if (!existsSync(program)) {
    if (onPath("go") === null) throw new Unavailable("nats-server is not on PATH, and there is no Go to build it with");
    say(`building nats-server ${version} with Go into bench/.cache (once, about two minutes) …`);
    // Whatever Go fetches and builds on the way stays in one folder, which then goes.
    const besides = cacheFolder("go");
    const env = { ...process.env, GOBIN: folder, GOPATH: besides, GOCACHE: join(besides, "build"), CGO_ENABLED: "0" };
    try {
      await run("go", ["install", "-modcacherw", `github.com/nats-io/nats-server/v2@${version}`], { env });
    } catch (error) {
      throw new Unavailable(`nats-server could not be built: ${reasonOf(error)}`);
    } finally {
      rmSync(besides, { recursive: true, force: true });
    }
  }
  return inspect(program);
}

async function inspect(program: string): Promise<NatsServer> {
  const printed = (await run(program, ["--version"])).trim();
  const [, major = "0", minor = "0"] = /v?(\d+)\.(\d+)/.exec(printed) ?? [];
  return { program, version: printed, knows_sync: Number(major) > 2 || (major === "2" && Number(minor) >= 10) };
}
