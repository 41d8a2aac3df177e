/** What a run did not exercise although it could have, and what it exercised although it cannot happen. */

import { type CoverageCounts, doneIn, hitIn, refusedIn } from "./coverage.ts";
import { isFaultReachable, isStateReachable } from "./reachable.ts";
import { commands, faults, rows, states } from "./rows.ts";

export interface Gaps {
  readonly empty: readonly string[];
  readonly impossible: readonly string[];
}

export function gapsOf(counts: CoverageCounts): Gaps {
  const empty: string[] = [];
  const impossible: string[] = [];
  const look = (name: string, count: number, reachable: boolean) => {
    if (reachable && count === 0) empty.push(name);
    if (!reachable && count > 0) impossible.push(name);
  };
  for (const command of commands) {
    for (const state of states) {
      const count = doneIn(counts, state, command) + refusedIn(counts, state, command);
      look(`${command} while ${state}`, count, isStateReachable(state, command));
    }
  }
  for (const row of rows) {
    for (const fault of faults) look(`${row} × ${fault}`, hitIn(counts, row, fault), isFaultReachable(row, fault));
  }
  return { empty, impossible };
}
