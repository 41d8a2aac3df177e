/** Whether a soak held: every bound with what was found, and whether it holds. */

import type { RelayState } from "./relay-state.ts";
import { slopeOf } from "./slope.ts";

export interface Sample {
  readonly at_s: number;
  readonly per_second: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly heap_mb: number;
  readonly rss_mb: number;
  /** Of the relay's event loop, since the sample before. */
  readonly loop_p99_ms: number;
  /** The longest it was since the sample before. */
  readonly wal_mb: number;
  readonly kept_handoffs: number;
  /** Of all cores' time since the sample before, what the host gave to others. */
  readonly stolen_percent: number;
}

export interface Soaked {
  readonly rate: number;
  readonly seconds: number;
  readonly samples: readonly Sample[];
  /** Over the whole time. */
  readonly loop_p99_ms: number;
  /** How many samples could not keep the rate. */
  readonly behind: number;
  /** Without a client, after the relay had warmed up and dropped everything; and again at the end. */
  readonly before: RelayState;
  readonly after: RelayState;
}

export interface Bound {
  readonly name: string;
  readonly found: string;
  readonly bound: string;
  readonly holds: boolean;
}

/** While caches fill and code is optimised, memory grows by right. */
const settling_share = 0.3;
const loop_p99_most_ms = 50;
const wal_most_mb = 64;
/** Of what is held, over the whole time; or so much, where that is more. */
const growth = { share: 0.1, heap_mb: 10, rss_mb: 30 };
/** A checkpoint or a statement may hold a file open at the moment we look. */
const files_more = 2;

export function judge(soaked: Soaked): readonly Bound[] {
  const { samples, seconds, before, after } = soaked;
  const settled = samples.slice(Math.floor(samples.length * settling_share));
  const grown = (value: "heap_mb" | "rss_mb") =>
    slopeOf(settled.map((sample) => ({ at_s: sample.at_s, value: sample[value] }))) * seconds;
  const flat = (value: "heap_mb" | "rss_mb", name: string): Bound => {
    const held = settled.at(-1)?.[value] ?? 0;
    const most = Math.max(growth[value], held * growth.share);
    const [first, last] = [settled[0]?.[value] ?? 0, held];
    const found = `${grown(value).toFixed(1)} MB (from ${first} to ${last} MB)`;
    return { name, found, bound: `at most ${most.toFixed(0)} MB`, holds: grown(value) <= most };
  };
  const atMost = (name: string, found: number, most: number, unit: string): Bound => ({
    name,
    found: `${found.toFixed(1)} ${unit}`,
    bound: `at most ${most} ${unit}`,
    holds: found <= most,
  });
  const same = (name: string, was: number, is: number, more = 0): Bound => ({
    name,
    found: `${is}`,
    bound: more === 0 ? `${was}, as before` : `${was}, as before, or ${more} more`,
    holds: is <= was + more,
  });
  const kinds = [...new Set([...Object.keys(before.resources), ...Object.keys(after.resources)])];
  return [
    flat("heap_mb", "heap after collection grew by"),
    flat("rss_mb", "memory (RSS) grew by"),
    atMost("event loop's delay, p99", soaked.loop_p99_ms, loop_p99_most_ms, "ms"),
    atMost("write-ahead log", Math.max(0, ...samples.map(({ wal_mb }) => wal_mb)), wal_most_mb, "MB"),
    {
      name: "samples behind the rate",
      found: `${soaked.behind} of ${samples.length}`,
      bound: "none",
      holds: soaked.behind === 0,
    },
    same("open handoffs left", before.open_handoffs, after.open_handoffs),
    same("kept handoffs left", before.kept_handoffs, after.kept_handoffs),
    same("commands waiting in the engine", before.pending_jobs, after.pending_jobs),
    same("waiters left", before.waiters, after.waiters),
    same("claims waiting", before.waiting_claims, after.waiting_claims),
    same("connections", before.connections, after.connections),
    same("streams", before.streams, after.streams),
    same("open files", before.files, after.files, files_more),
    ...kinds.map((kind) => same(`${kind}s`, before.resources[kind] ?? 0, after.resources[kind] ?? 0)),
  ];
}
