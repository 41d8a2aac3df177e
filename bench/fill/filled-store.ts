/** A filled store, made once and kept: filling it with millions takes minutes. */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../obtain/cache.ts";
import type { Say } from "../obtain/say.ts";
import { Unavailable } from "../obtain/unavailable.ts";
import { type Amounts, fillStore } from "./fill-store.ts";
import { makeSpecimens } from "./specimen.ts";

const packages = join(import.meta.dirname, "../../packages");
/** Its queued handoffs end after 30 days; what was finished is dropped after 7. */
const life_ms = 6 * 86_400_000;
/** About what a handoff takes, with its events and index entries. */
const bytes_each = 8_000;

/** The directory of a store with so many handoffs: kept from an earlier run, or filled now. */
export async function filledStore(amounts: Amounts, say: Say): Promise<string> {
  const kept = keptStore(amounts);
  if (kept !== null) return kept;
  const directory = directoryOf(amounts);
  const partial = `${directory}.partial`;
  for (const path of [directory, partial]) rmSync(path, { recursive: true, force: true });
  mkdirSync(partial);
  checkSpace(partial, amounts);
  say(`filling a store with ${total(amounts).toLocaleString("en")} handoffs in bench/.cache (kept for the next run) …`);
  await fillStore(partial, await makeSpecimens(say), amounts, say);
  renameSync(partial, directory);
  return directory;
}

/** The one that an earlier run has left, or null. */
export function keptStore(amounts: Amounts): string | null {
  const directory = directoryOf(amounts);
  return existsSync(directory) && Date.now() - statSync(directory).birthtimeMs < life_ms ? directory : null;
}

function directoryOf({ queued, working, finished }: Amounts): string {
  return join(cacheFolder("filled"), `${queued}-queued-${working}-working-${finished}-finished-${shape()}`);
}

function total({ queued, working, finished }: Amounts): number {
  return queued + working + finished;
}

function checkSpace(folder: string, amounts: Amounts): void {
  const { bavail, bsize } = statfsSync(folder);
  const needed = total(amounts) * bytes_each;
  if (bavail * bsize > needed * 1.5) return;
  throw new Unavailable(`there is no room for the filled store: it takes about ${Math.round(needed / 1e9)} GB`);
}

/** Changes with what the store and the record look like: an older filled store would not be what the relay writes today. */
function shape(): string {
  const migrations = join(packages, "store-sqlite/src/migrations");
  const files = [
    ...readdirSync(migrations).map((file) => join(migrations, file)),
    join(packages, "store-sqlite/src/row.ts"),
    join(packages, "core/src/handoff.ts"),
  ];
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest("hex").slice(0, 12);
}
