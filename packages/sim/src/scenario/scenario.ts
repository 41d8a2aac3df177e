/** Everything that a seed fixes before its world begins: the weather, how work is sent, and the limits that the relay runs by. */

import { type CoreLimits, coreLimits, type Duration } from "@handfast/core";
import { type EngineLimits, engineLimits } from "@handfast/engine";
import { commonCommands, type Row, rows } from "../coverage/rows.ts";
import type { Random } from "../random.ts";
import { drawFaults, type Faults, type Weather, weathers } from "./faults.ts";

/** How much time senders give. */
export type Patience = "generous" | "mixed" | "tight";

export interface Scenario {
  readonly weather: Weather;
  readonly faults: Faults;
  readonly patience: Patience;
  /** Mean time between two submits of one sender. */
  readonly pace_ms: Duration;
  readonly longest_work_ms: Duration;
  /** A commit takes up to so long. */
  readonly commit_most_ms: Duration;
  /** Faults seek this one out: otherwise what is rare would hardly ever meet what is rare. */
  readonly hunted: Row | null;
  /** How often actors do what is neither needed nor forbidden. */
  readonly ask: number;
  readonly hand_on: number;
  readonly cancel: number;
  readonly stranger_every_ms: Duration;
  readonly operator_every_ms: Duration;
  readonly reads_log: boolean;
  /** Agents stand differently with what they offer, and senders ask for versions and hold conversations. */
  readonly is_routed: boolean;
  readonly limits: EngineLimits;
  readonly coreLimits: CoreLimits;
}

const minute = 60_000;
const longest_sending_ms: Duration = 4 * minute;
/** What is rare, and what is rarest, more than once. */
const rare: readonly Row[] = [
  ...rows.filter((row) => !commonCommands.has(row)),
  "exclude",
  "exclude",
  "charge",
  "swept",
  "routed",
  "reject",
  "release",
];

export function drawScenario(random: Random, handoffs: number): Scenario {
  const weather = drawWeather(random);
  const clear = weather === "clear";
  const forgetful = random.chance(0.3);
  // Few handoffs may be far apart: in a busy world the next timer hides that an earlier one was missed.
  const pace_ms = Math.min(random.pick([8, 15, 30, 60, 150, 500, 5_000, 20_000]), longest_sending_ms / handoffs);
  const faults = drawFaults(random, weather);
  const hunted = clear || random.chance(0.3) ? null : random.pick(random.chance(0.7) ? rare : rows);
  return {
    weather,
    faults: hunted === "exclude" ? { ...faults, manifest_change_every_ms: 5_000 } : faults,
    patience: clear ? "generous" : random.pick(["generous", "generous", "mixed", "tight"]),
    pace_ms: clear ? Math.max(100, pace_ms) : pace_ms,
    longest_work_ms: clear ? 1_000 : random.pick([500, 2_000, 4_000, 12_000]),
    commit_most_ms: random.pick([0, 2, 10, 40, 100]),
    hunted,
    ask: random.pick([0, 0.05, 0.3]),
    hand_on: random.pick([0, 0.1, 0.35]),
    cancel: random.pick([0, 0.03, 0.1]),
    stranger_every_ms: random.between(1_000, 10_000),
    operator_every_ms: random.between(2_000, 20_000),
    reads_log: random.chance(0.25),
    is_routed: random.chance(0.6),
    limits: drawEngineLimits(random, clear, forgetful),
    coreLimits: drawCoreLimits(random, clear, forgetful),
  };
}

function drawWeather(random: Random): Weather {
  const shares: Readonly<Record<Weather, number>> = { clear: 0.1, fair: 0.4, rough: 0.3, awful: 0.2 };
  let drawn = random.next();
  for (const weather of weathers) {
    drawn -= shares[weather];
    if (drawn < 0) return weather;
  }
  return "awful";
}

/** `forgetful`: keys and the log are kept so shortly that retention gets to them. */
function drawEngineLimits(random: Random, clear: boolean, forgetful: boolean): EngineLimits {
  return {
    ...engineLimits,
    cached_handoffs: random.pick([2, 50, 2_000, 2_000, 2_000]),
    due_per_sweep: random.pick([4, 16, 256]),
    children_per_sweep: random.pick([1, 2, 64]),
    deliveries_per_batch: random.pick([2, 16, 512]),
    batch_jobs: random.pick([4, 32, 512]),
    pending_submits: clear || random.chance(0.8) ? engineLimits.pending_submits : 4,
    routed_deadline_ms: 10 * minute,
    dedupe_window_ms: forgetful ? dedupe_ms : engineLimits.dedupe_window_ms,
    keep_events_ms: forgetful ? 2 * minute : engineLimits.keep_events_ms,
    prune_every_ms: forgetful ? 10_000 : engineLimits.prune_every_ms,
    prune_rows: forgetful ? random.pick([10, 1_000]) : engineLimits.prune_rows,
  };
}

/** Short, but longer than any sender goes on repeating a submit. */
const dedupe_ms: Duration = 4 * minute;

function drawCoreLimits(random: Random, clear: boolean, forgetful: boolean): CoreLimits {
  return {
    ...coreLimits,
    max_hops: random.pick([1, 3, 3]),
    max_open_per_sender: clear || random.chance(0.85) ? coreLimits.max_open_per_sender : random.between(10, 40),
    keep_taken_ms: random.chance(0.5) ? minute : coreLimits.keep_taken_ms,
    id_behind_ms: forgetful ? dedupe_ms : coreLimits.id_behind_ms,
    keep_untaken_ms: clear || random.chance(0.8) ? coreLimits.keep_untaken_ms : 3 * minute,
  };
}
