/** Under what conditions the figures came about: they mean nothing without. */

import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import { join } from "node:path";
import { slow_sync_ms } from "../disk/slow-disk.ts";
import type { Workspace } from "../workspace.ts";

export interface Conditions {
  readonly date: string;
  readonly node: string;
  readonly kernel: string;
  readonly cores: number;
  readonly cpu: string;
  readonly memory_gb: number;
  /** What else the machine was doing, over the minute before. */
  readonly load_average: { readonly before: number; readonly after: number };
  /** Of 4 KB appended and synced, one after the other. */
  readonly fdatasync: { readonly p50_ms: number; readonly p99_ms: number };
  readonly on_disk: boolean;
  readonly rounds: number;
  readonly seconds_each: number;
  readonly notes: readonly string[];
}

export const what_a_handoff_is =
  "a handoff: 1,024 bytes of JSON in, 1,024 out, submitted durably, taken by a worker, answered, the answer at its sender";

const notes = [
  what_a_handoff_is,
  "sender and worker in one process, the server in another, all on this machine; each system with a fresh server and an empty store in every round",
  "rounds of every system in turn; figures are medians over the rounds, ratios medians of the ratios within each round",
  "ratios use the client over a WebSocket, unsigned, with one sender and one worker; those called signed_… use the signed one",
  "vs_pg_boss uses the faster of the two pg-boss rows in each round",
  `slow disk: every fsync and fdatasync of the server waits ${slow_sync_ms} ms before it begins`,
];

const probes = 200;

function probeDisk({ directory }: Workspace): Conditions["fdatasync"] {
  const file = openSync(join(directory, "probe"), "w");
  const page = Buffer.alloc(4_096, 1);
  const took_ms: number[] = [];
  for (let nth = 0; nth < probes; nth += 1) {
    writeSync(file, page);
    const began = performance.now();
    fdatasyncSync(file);
    took_ms.push(performance.now() - began);
  }
  closeSync(file);
  took_ms.sort((a, b) => a - b);
  const at = (share: number) => Number((took_ms[Math.floor(probes * share)] ?? Number.NaN).toFixed(2));
  return { p50_ms: at(0.5), p99_ms: at(0.99) };
}

/** Looks before, and again when it is called after. */
export function observeConditions(
  workspace: Workspace,
  rounds: number,
  seconds_each: number,
  noted: readonly string[] = notes,
): () => Conditions {
  const before = loadNow();
  const fdatasync = probeDisk(workspace);
  const date = new Date().toISOString().slice(0, 16).replace("T", " ");
  return () => ({
    date: `${date} UTC`,
    node: process.version,
    kernel: release(),
    cores: cpus().length,
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    memory_gb: Math.round(totalmem() / 1e9),
    load_average: { before, after: loadNow() },
    fdatasync,
    on_disk: workspace.on_disk,
    rounds,
    seconds_each,
    notes: noted,
  });
}

function loadNow(): number {
  return Number((loadavg()[0] ?? 0).toFixed(2));
}
