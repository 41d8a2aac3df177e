/**
 * redis-server: the one on PATH, else Debian's package, fetched and unpacked into the cache. It is not installed: that
 * would need root and start a service nobody asked for.
 */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "./cache.ts";
import { onPath } from "./on-path.ts";
import { run } from "./run.ts";
import type { Say } from "./say.ts";
import { Unavailable } from "./unavailable.ts";

/** The server's binary is in redis-tools; the others are the libraries that a bare system lacks. */
const packages = ["redis-tools", "redis-server", "libjemalloc2", "liblua5.1-0", "liblzf1"];

export interface Redis {
  readonly program: string;
  readonly libraries: string | null;
}

export async function obtainRedis(say: Say): Promise<Redis> {
  const installed = onPath("redis-server");
  if (installed !== null) return { program: installed, libraries: null };
  const root = cacheFolder("redis");
  const program = join(root, "usr/bin/redis-server");
  if (!existsSync(program)) await unpack(root, say);
  return { program, libraries: libraryFolders(root) };
}

async function unpack(root: string, say: Say): Promise<void> {
  if (onPath("apt-get") === null || onPath("dpkg") === null) {
    throw new Unavailable("redis-server is not on PATH, and there is no apt-get to fetch it with");
  }
  say("fetching redis-server from Debian into bench/.cache (unpacked, not installed) …");
  const downloads = cacheFolder("debian");
  try {
    await run("apt-get", ["download", ...packages], { cwd: downloads });
  } catch (error) {
    if (process.getuid?.() !== 0) throw error;
    // A fresh machine has no package lists yet.
    await run("apt-get", ["update"]);
    await run("apt-get", ["download", ...packages], { cwd: downloads });
  }
  for (const file of readdirSync(downloads)) {
    if (packages.some((name) => file.startsWith(`${name}_`))) await run("dpkg", ["-x", join(downloads, file), root]);
  }
}

function libraryFolders(root: string): string {
  const folder = join(root, "usr/lib");
  return [folder, ...readdirSync(folder).map((name) => join(folder, name))].join(":");
}
