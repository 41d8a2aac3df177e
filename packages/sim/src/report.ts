/** What a run tells at its end. */

import type { Duration } from "@handfast/core";
import type { Failure, SeedsResult } from "./run-seeds.ts";
import { Tally } from "./tally.ts";

export function summary(result: SeedsResult, wall_ms: Duration): readonly string[] {
  const tally = new Tally();
  tally.addAll(result.counts);
  const { seeds, handoffs, virtual_ms, failure } = result;
  return [
    `${seeds} seeds, each twice · ${handoffs} handoffs · ${(virtual_ms / 3_600_000).toFixed(1)} h of virtual time · ${(wall_ms / 1_000).toFixed(1)} s`,
    ...tally.lines(),
    failure === null ? "0 violations" : "1 violation",
  ];
}

export function failureReport({ seed, handoffs, invariant, about, message, tail }: Failure): readonly string[] {
  return [
    `seed ${seed} violates "${invariant}" for ${about}`,
    message,
    ...tail.map((line) => `  ${line}`),
    `replay: npm run sim -- --seed ${seed} --handoffs ${handoffs} --trace`,
  ];
}
