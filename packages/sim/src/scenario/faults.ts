/** How bad this seed's world is. Each rate is drawn anew per seed, and many are zero: rare faults need quiet around them. */

import type { Duration } from "@handfast/core";
import type { Random } from "../random.ts";

export interface Faults {
  /** The network between actors and relay, per message. */
  readonly request_lost: number;
  readonly answer_lost: number;
  readonly duplicated: number;
  readonly slow: number;
  readonly delay_most_ms: Duration;
  /** Some actors are cut off from the relay: mean time between; null: never. */
  readonly partition_every_ms: Duration | null;
  /** The store, per commit. */
  readonly commit_fails_before: number;
  readonly commit_fails_after: number;
  readonly commit_slow: number;
  readonly recovery_fails: number;
  readonly disk_low_every_ms: Duration | null;
  /** The relay. */
  readonly relay_crash_every_ms: Duration | null;
  readonly relay_restart_every_ms: Duration | null;
  readonly relay_stall_every_ms: Duration | null;
  readonly clock_jump_every_ms: Duration | null;
  readonly manifest_change_every_ms: Duration | null;
  /** Senders and desks. */
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
  readonly stale_child: number;
  /** Whoever should answer a question does not, per question. */
  readonly no_answer: number;
}

export type FaultName = keyof Faults;

/** From a world without faults to one in which hardly anything works. */
export const weathers = ["clear", "fair", "rough", "awful"] as const;
export type Weather = (typeof weathers)[number];

const scales: Readonly<Record<Weather, number>> = { clear: 0, fair: 0.15, rough: 0.6, awful: 1.6 };

export function drawFaults(random: Random, weather: Weather): Faults {
  const scale = scales[weather];
  if (scale === 0) return noFaults;
  const rate = (most: number) => (random.chance(0.35) ? 0 : Math.min(0.9, most * scale * random.next() ** 2));
  const every = (least_ms: Duration, most_ms: Duration) =>
    random.chance(0.4) ? null : random.between(least_ms, most_ms) / Math.min(1, scale);
  return {
    request_lost: rate(0.2),
    answer_lost: rate(0.2),
    duplicated: rate(0.15),
    slow: rate(0.05),
    delay_most_ms: random.pick(weather === "fair" ? [2, 20, 200] : [2, 20, 200, 2_000]),
    partition_every_ms: every(10_000, 120_000),
    commit_fails_before: rate(0.03),
    commit_fails_after: rate(0.03),
    commit_slow: rate(0.05),
    recovery_fails: rate(0.5),
    disk_low_every_ms: every(30_000, 200_000),
    relay_crash_every_ms: every(5_000, 120_000),
    relay_restart_every_ms: every(20_000, 200_000),
    relay_stall_every_ms: every(20_000, 200_000),
    clock_jump_every_ms: every(30_000, 300_000),
    manifest_change_every_ms: every(3_000, 60_000),
    sender_crash_every_ms: every(10_000, 100_000),
    worker_crash: rate(0.2),
    never_ack: rate(0.5),
    hang: rate(0.3),
    beat_but_hang: rate(0.2),
    late_outcome: rate(0.4),
    contradicts: rate(0.1),
    unfit_output: rate(0.4),
    fail: rate(0.7),
    reject: rate(0.5),
    release: rate(0.3),
    stale_child: rate(0.5),
    no_answer: rate(0.8),
  };
}

/** Clear weather, and every world after healing: a quick network, a sound disk, honest workers. */
export const noFaults: Faults = {
  request_lost: 0,
  answer_lost: 0,
  duplicated: 0,
  slow: 0,
  delay_most_ms: 5,
  partition_every_ms: null,
  commit_fails_before: 0,
  commit_fails_after: 0,
  commit_slow: 0,
  recovery_fails: 0,
  disk_low_every_ms: null,
  relay_crash_every_ms: null,
  relay_restart_every_ms: null,
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
  stale_child: 0,
  no_answer: 0,
};

/** The same world without some of its faults: how a failing seed is made smaller. */
export function withoutFaults(faults: Faults, without: readonly FaultName[]): Faults {
  return { ...faults, ...Object.fromEntries(without.map((name) => [name, noFaults[name]])) };
}

export function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(noFaults, name);
}
