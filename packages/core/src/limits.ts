/** Every limit that core knows, in one place. */

import type { Duration } from "./handoff.ts";

export interface CoreLimits {
  readonly max_hops: number;
  /** Handoffs of one sender that may be open at the same time. */
  readonly max_open_per_sender: number;
  readonly max_failures_kept: number;
  readonly max_holders_kept: number;
  readonly max_questions: number;
  readonly max_unfit_outputs: number;
  readonly max_excluded: number;
  /** Capabilities that a budget remembers to have been charged for. */
  readonly max_charged_kept: number;
  readonly default_attempt_ms: Duration;
  /** Clocks of a sender that are shorter than these tell nothing of an agent. */
  readonly default_ack_ms: Duration;
  readonly default_lease_ms: Duration;
  readonly backoff_first_ms: Duration;
  readonly backoff_most_ms: Duration;
  /** What one step of priority is worth in waiting time: bounded, so that nothing starves. */
  readonly priority_bonus_ms: Duration;
  /** How long a preference for or against a worker may hold work back. */
  readonly preference_ms: Duration;
  /** How long a handoff may be held back for the agent that served its lane or conversation last. */
  readonly sticky_ms: Duration;
  /** For so long work is left to workers of the node it came to, and a worker that left is likely to ask again. */
  readonly stays_ms: Duration;
  /** The share of choices that goes to agents of which little is measured, where there are others. */
  readonly newcomer_share: number;
  /** Ended and taken, and no open dead letter: kept this long after the last of these acts. */
  readonly keep_taken_ms: Duration;
  /** Untaken outcomes and open dead letters: kept this long. */
  readonly keep_untaken_ms: Duration;
  /** How far the time inside an id may lie ahead of the relay's clock, and behind it (the dedupe window). */
  readonly id_ahead_ms: Duration;
  readonly id_behind_ms: Duration;
}

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;

export const coreLimits: CoreLimits = {
  max_hops: 16,
  max_open_per_sender: 100_000,
  max_failures_kept: 20,
  max_holders_kept: 64,
  max_questions: 100,
  max_unfit_outputs: 3,
  max_excluded: 1_000,
  max_charged_kept: 64,
  default_attempt_ms: 5 * minute,
  default_ack_ms: 10 * second,
  default_lease_ms: 30 * second,
  backoff_first_ms: second,
  backoff_most_ms: minute,
  priority_bonus_ms: 30 * second,
  preference_ms: 10 * second,
  sticky_ms: 10 * second,
  stays_ms: 50,
  newcomer_share: 0.05,
  keep_taken_ms: 7 * day,
  keep_untaken_ms: 30 * day,
  id_ahead_ms: 60 * minute,
  id_behind_ms: 30 * day,
};
