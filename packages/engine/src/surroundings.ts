/** Clock, randomness and scheduler, injected so that the simulator can own them. */

import { randomBytes } from "node:crypto";
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

const longest_timer_ms = 2 ** 31 - 1;

export function realSurroundings(): Surroundings {
  const started_at = Date.now();
  const started = performance.now();
  return {
    now: () => Math.floor(started_at + performance.now() - started),
    random: Math.random,
    randomBytes: (count) => randomBytes(count),
    schedule: (delay_ms, callback) => {
      const timer = setTimeout(callback, Math.max(0, Math.min(delay_ms, longest_timer_ms)));
      return () => clearTimeout(timer);
    },
    defer: (callback) => {
      setImmediate(callback);
    },
  };
}
