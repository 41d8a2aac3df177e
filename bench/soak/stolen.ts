/** How much of the machine's time its host gave to others meanwhile: what a figure may owe to the neighbours. */

import { readFileSync } from "node:fs";

/** Starts watching; asked, it answers the share in percent of all cores' time. The soak needs /proc anyway. */
export function watchStolen(): () => number {
  const began = readTimes();
  return () => {
    const now = readTimes();
    const all = now.all - began.all;
    return all === 0 ? 0 : Number((((now.stolen - began.stolen) / all) * 100).toFixed(1));
  };
}

function readTimes() {
  return parseTimes(readFileSync("/proc/stat", "utf8"));
}

/** The first line: user, nice, system, idle, iowait, irq, softirq, steal; what follows is counted in them already. */
export function parseTimes(stat: string): { readonly all: number; readonly stolen: number } {
  const times = (stat.split("\n", 1)[0] ?? "").trim().split(/\s+/).slice(1, 9).map(Number);
  return { all: times.reduce((sum, time) => sum + time, 0), stolen: times[7] ?? 0 };
}
