/** Clock, randomness and scheduler, injected so that the simulator can own them. */

import { randomFillSync } from "node:crypto";
import type { Duration, Time } from "@handfast/core";

export interface Surroundings {
  /** The wall clock at start, carried on by a monotonic one: it neither jumps nor goes back while the relay runs. */
  now(): Time;
  /** In [0, 1). */
  random(): number;
  randomBytes(count: number): Uint8Array;
  /** Calls back once; returns how to cancel it. */
  schedule(delay_ms: Duration, callback: () => void): () => void;
  /** Calls back as soon as what already waits has had its turn. */
  defer(callback: () => void): void;
}

/** Drawn in bulk: one system call for hundreds of salts and ids instead of one each. */
const pool = Buffer.alloc(8_192);
let used = pool.length;

function randomBytes(count: number): Uint8Array {
  if (used + count > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = Uint8Array.prototype.slice.call(pool, used, used + count);
  used += count;
  return bytes;
}

const longest_timer_ms = 2 ** 31 - 1;

export function realSurroundings(): Surroundings {
  const started_at = Date.now();
  const started = performance.now();
  return {
    now: () => Math.floor(started_at + performance.now() - started),
    random: Math.random,
    randomBytes,
    schedule: (delay_ms, callback) => {
      const timer = setTimeout(callback, Math.max(0, Math.min(delay_ms, longest_timer_ms)));
      return () => clearTimeout(timer);
    },
    defer: (callback) => {
      setImmediate(callback);
    },
  };
}
