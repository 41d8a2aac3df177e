/** What a relay holds at one moment, seen from outside and through its inspector: what must be the same before and after. */

import { readdirSync } from "node:fs";
import type { Inspector } from "../inspector.ts";
import { readMetrics } from "./metrics.ts";

export interface RelayState {
  readonly heap_mb: number;
  readonly rss_mb: number;
  /** Timers, sockets, file handles and what else keeps an event loop going, by kind. */
  readonly resources: Readonly<Record<string, number>>;
  readonly files: number;
  readonly connections: number;
  readonly streams: number;
  /** In the engine: commands, claims and waiters that wait. */
  readonly pending_jobs: number;
  readonly waiting_claims: number;
  readonly waiters: number;
  readonly open_handoffs: number;
  readonly kept_handoffs: number;
}

export interface Watched {
  readonly url: string;
  readonly pid: number;
  readonly inspector: Inspector;
  rssBytes(): number;
}

export async function relayState({ url, pid, inspector, rssBytes }: Watched): Promise<RelayState> {
  const heap_bytes = await inspector.heapBytes();
  const metrics = await readMetrics(url);
  const engine = (what: string) => metrics.sum("handfast_engine", `what="${what}"`);
  return {
    heap_mb: megabytes(heap_bytes),
    rss_mb: megabytes(rssBytes()),
    resources: await resourcesOf(inspector),
    files: readdirSync(`/proc/${pid}/fd`).length,
    connections: metrics.sum("handfast_connections"),
    streams: metrics.sum("handfast_streams"),
    pending_jobs: engine("pending_jobs"),
    waiting_claims: engine("waiting_claims"),
    waiters: engine("waiters"),
    open_handoffs: engine("open_handoffs"),
    kept_handoffs: metrics.sum("handfast_handoffs"),
  };
}

async function resourcesOf(inspector: Inspector): Promise<Readonly<Record<string, number>>> {
  const names: unknown = await inspector.evaluate("process.getActiveResourcesInfo()");
  const counts: Record<string, number> = {};
  for (const name of Array.isArray(names) ? names.map(String) : []) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function megabytes(bytes: number): number {
  return Number((bytes / 1e6).toFixed(1));
}
