/** What every handoff of a crash run is given: room for all the kills, so that a dead letter is a mistake. */

export const terms = {
  deadline_ms: 3_600_000,
  ack_ms: 5_000,
  max_attempts: 100,
} as const;

/** Longer than any absence of the relay: whoever gives up has found a fault. */
export const patience = "10m";
