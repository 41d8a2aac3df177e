/** What a process and everything it started use: memory and CPU, from /proc. */

import { readdirSync, readFileSync } from "node:fs";

export interface Usage {
  /** Pages shared between the processes are counted for each. */
  readonly rss_bytes: number;
  readonly cpu_ms: number;
}

interface Stat {
  readonly parent: number;
  readonly rss_bytes: number;
  readonly cpu_ms: number;
}

const page_bytes = 4_096;
/** The kernel tells CPU time in hundredths of a second. */
const tick_ms = 10;

/** The process and its descendants; null where there is no /proc. */
export function processTree(root: number): ReadonlyMap<number, Stat> | null {
  const stats = readStats();
  if (stats === null) return null;
  const tree = new Map<number, Stat>();
  const add = (pid: number) => {
    const stat = stats.get(pid);
    if (stat === undefined || tree.has(pid)) return;
    tree.set(pid, stat);
    for (const [child, { parent }] of stats) if (parent === pid) add(child);
  };
  add(root);
  return tree;
}

export function usageOf(root: number): Usage | null {
  const tree = processTree(root);
  if (tree === null) return null;
  let rss_bytes = 0;
  let cpu_ms = 0;
  for (const stat of tree.values()) {
    rss_bytes += stat.rss_bytes;
    cpu_ms += stat.cpu_ms;
  }
  return { rss_bytes, cpu_ms };
}

function readStats(): ReadonlyMap<number, Stat> | null {
  const stats = new Map<number, Stat>();
  try {
    for (const name of readdirSync("/proc")) {
      const pid = Number(name);
      const stat = Number.isInteger(pid) ? readStat(pid) : null;
      if (stat !== null) stats.set(pid, stat);
    }
    return stats;
  } catch {
    return null;
  }
}

function readStat(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before may hold anything; the fields after its last bracket are numbers.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const field = (nth: number) => Number(fields[nth - 3]);
    return { parent: field(4), cpu_ms: (field(14) + field(15)) * tick_ms, rss_bytes: field(24) * page_bytes };
  } catch {
    // It ended while we looked.
    return null;
  }
}
