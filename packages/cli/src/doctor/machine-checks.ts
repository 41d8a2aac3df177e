/** What can be seen on this machine alone: Node, key files, the disk. */

import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { listKeys, openKey } from "../keys/key-files.ts";
import { type Check, ok, problem } from "./check.ts";

const node_least = 24;
const free_bytes_least = 500_000_000;

export function checkNode(version: string = process.versions.node): Check {
  if (Number.parseInt(version, 10) >= node_least) return ok("node", `Node ${version}`);
  return problem("node", `Node ${version} is too old`, `Install Node ${node_least} or newer.`, "configuration");
}

/** Whether each can be used: there, a key, for its owner only. */
export async function checkKeys(home: string): Promise<readonly Check[]> {
  const places = await listKeys(home);
  if (places.length === 0) return [ok("keys", `no keys in ${home} yet; each is made on first use`)];
  const faults = await Promise.all(
    places.map(async ({ path }): Promise<Check | null> => {
      try {
        await openKey(path);
        return null;
      } catch (error) {
        const remedy = error instanceof Error && "remedy" in error ? String(error.remedy) : "Check the file.";
        return problem("keys", error instanceof Error ? error.message : String(error), remedy, "configuration");
      }
    }),
  );
  const found = faults.filter((fault) => fault !== null);
  return found.length > 0 ? found : [ok("keys", `${places.length} in ${home}, for their owner only`)];
}

/** Of the place where a relay on this machine keeps its store; it may not be there yet. */
export async function checkDisk(path: string): Promise<Check> {
  const { bavail, bsize } = await statfs(await existing(path));
  const free = bavail * bsize;
  const found = `${(free / 1e9).toFixed(1)} GB free for ${path}`;
  if (free >= free_bytes_least) return ok("disk", found);
  return problem("disk", found, "Make room: near 64 MB a relay takes no new handoffs (507).", "retryable");
}

async function existing(path: string): Promise<string> {
  const isThere = await stat(path).then(
    () => true,
    () => false,
  );
  return isThere || dirname(path) === path ? path : existing(dirname(path));
}
