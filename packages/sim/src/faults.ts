/** How bad this seed's world is. Each rate is drawn anew per seed, and many are zero: rare faults need quiet around them. */

import type { Duration } from "@handfast/core";
import type { Random } from "./random.ts";

export interface Faults {
  /** The network between actors and relay, per message. */
  readonly request_lost: number;
  readonly answer_lost: number;
  readonly duplicated: number;
  readonly slow: number;
  readonly delay_most_ms: Duration;
  /** The store, per commit. */
  readonly commit_fails_before: number;
  readonly commit_fails_after: number;
  readonly commit_slow: number;
  readonly recovery_fails: number;
  /** The relay: mean time between; null: never. */
  readonly relay_crash_every_ms: Duration | null;
  readonly relay_stall_every_ms: Duration | null;
  readonly clock_jump_every_ms: Duration | null;
  readonly manifest_change_every_ms: Duration | null;
  /** Senders: mean time between crashes; null: never. */
  readonly sender_crash_every_ms: Duration | null;
  /** Workers, per task. */
  readonly worker_crash: number;
  readonly never_ack: number;
  readonly hang: number;
  readonly beat_but_hang: number;
  readonly late_outcome: number;
  readonly contradicts: number;
  readonly unfit_output: number;
  readonly fail: number;
  readonly reject: number;
  readonly release: number;
  readonly ask: number;
  readonly stale_child: number;
}

export function drawFaults(random: Random): Faults {
  const rate = (most: number) => (random.chance(0.35) ? 0 : most * random.next() ** 2);
  const every = (least_ms: Duration, most_ms: Duration) =>
    random.chance(0.4) ? null : random.between(least_ms, most_ms);
  return {
    request_lost: rate(0.2),
    answer_lost: rate(0.2),
    duplicated: rate(0.15),
    slow: rate(0.05),
    delay_most_ms: random.pick([2, 20, 200, 2_000]),
    commit_fails_before: rate(0.03),
    commit_fails_after: rate(0.03),
    commit_slow: rate(0.03),
    recovery_fails: rate(0.3),
    relay_crash_every_ms: every(5_000, 120_000),
    relay_stall_every_ms: every(20_000, 200_000),
    clock_jump_every_ms: every(30_000, 300_000),
    manifest_change_every_ms: every(20_000, 100_000),
    sender_crash_every_ms: every(10_000, 100_000),
    worker_crash: rate(0.2),
    never_ack: rate(0.6),
    hang: rate(0.4),
    beat_but_hang: rate(0.2),
    late_outcome: rate(0.4),
    contradicts: rate(0.1),
    unfit_output: rate(0.4),
    fail: rate(0.7),
    reject: rate(0.5),
    release: rate(0.3),
    ask: rate(0.6),
    stale_child: rate(0.5),
  };
}

/** After healing: a network without faults, a sound disk, honest workers. */
export const noFaults: Faults = {
  request_lost: 0,
  answer_lost: 0,
  duplicated: 0,
  slow: 0,
  delay_most_ms: 5,
  commit_fails_before: 0,
  commit_fails_after: 0,
  commit_slow: 0,
  recovery_fails: 0,
  relay_crash_every_ms: null,
  relay_stall_every_ms: null,
  clock_jump_every_ms: null,
  manifest_change_every_ms: null,
  sender_crash_every_ms: null,
  worker_crash: 0,
  never_ack: 0,
  hang: 0,
  beat_but_hang: 0,
  late_outcome: 0,
  contradicts: 0,
  unfit_output: 0,
  fail: 0,
  reject: 0,
  release: 0,
  ask: 0,
  stale_child: 0,
};
