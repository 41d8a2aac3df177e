/** The time limits that senders ask for: from those that nothing breaks to those that break on the first fault. */

import type { Terms } from "@handfast/core";
import type { Random } from "../random.ts";
import type { Patience } from "./scenario.ts";

export function drawTerms(random: Random, patience: Patience): Terms {
  const retry = random.chance(0.15) ? "until_ack" : "attempts";
  switch (patience) {
    case "generous":
      return {
        deadline_ms: random.between(120_000, 600_000),
        queue_ms: 600_000,
        ack_ms: random.between(5_000, 10_000),
        lease_ms: random.between(10_000, 30_000),
        attempt_ms: random.chance(0.2) ? random.between(30_000, 90_000) : null,
        max_attempts: random.between(3, 5),
        max_deliveries: random.between(6, 10),
        retry,
      };
    case "mixed":
      return {
        deadline_ms: random.skewed(3_000, 300_000),
        queue_ms: random.chance(0.5) ? 300_000 : random.between(2_000, 60_000),
        ack_ms: random.between(1_000, 10_000),
        lease_ms: random.between(3_000, 30_000),
        attempt_ms: random.chance(0.3) ? random.between(2_000, 60_000) : null,
        max_attempts: random.between(1, 4),
        max_deliveries: random.between(2, 10),
        retry,
      };
    case "tight":
      return {
        deadline_ms: random.skewed(2_000, 60_000),
        queue_ms: random.between(1_000, 20_000),
        ack_ms: random.between(500, 3_000),
        lease_ms: random.between(1_500, 8_000),
        attempt_ms: random.chance(0.5) ? random.between(1_000, 10_000) : null,
        max_attempts: random.between(1, 3),
        max_deliveries: random.between(1, 4),
        retry,
      };
    default:
      throw new Error(`unreachable patience ${JSON.stringify(patience satisfies never)}`);
  }
}

/** For what is sent after healing: it must be completed. */
export const plainTerms: Terms = {
  deadline_ms: 900_000,
  queue_ms: 900_000,
  ack_ms: 10_000,
  lease_ms: 30_000,
  attempt_ms: null,
  max_attempts: 3,
  max_deliveries: 10,
  retry: "attempts",
};
