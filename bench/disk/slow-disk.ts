/**
 * A disk whose every fsync and fdatasync takes 10 ms longer, as on a slow cloud volume: programs run under a small one of
 * ours (slow-sync.c) that makes these two calls wait and counts them, so that a delay that did not take hold is noticed.
 *
 * Weighed: a library loaded before the C library does not reach static and Go programs; strace does, but stops threads at
 * every call although told of two (JetStream ran at a third of its rate without a single sync).
 */

import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onPath } from "../obtain/on-path.ts";
import { run } from "../obtain/run.ts";
import { Unavailable } from "../obtain/unavailable.ts";
import type { Disk } from "./disk.ts";

export const slow_sync_ms = 10;

const source = join(import.meta.dirname, "slow-sync.c");
const counter_bytes = 8;

/** One for each server: `directory` holds the program and its count, readable by whoever the server runs as. */
export async function openSlowDisk(directory: string, delay_ms: number = slow_sync_ms): Promise<Disk> {
  const compiler = onPath("cc") ?? onPath("gcc") ?? onPath("clang");
  if (compiler === null) throw new Unavailable("there is no C compiler to build the slow disk with");
  const program = join(directory, "slow-sync");
  const count = join(directory, "syncs");
  await run(compiler, ["-O2", "-pthread", "-o", program, source]);
  chmodSync(program, 0o755);
  writeFileSync(count, Buffer.alloc(counter_bytes));
  chmodSync(count, 0o666);
  // Tells in one line whether this machine allows it at all.
  await run(program, ["0", count, "true"]);
  return {
    name: "slow",
    wrap: (command) => ({
      ...command,
      program,
      args: [`${delay_ms * 1_000}`, count, command.program, ...command.args],
    }),
    syncs: () => Number(readFileSync(count).readBigUInt64LE()),
  };
}
