/** The two matrices of coverage as text: what was decided in which state, and which fault met which command. */

import { type CoverageCounts, doneIn, hitIn, refusedIn } from "./coverage.ts";
import { isFaultReachable, isStateReachable } from "./reachable.ts";
import { commands, type Fault, faults, rows, states } from "./rows.ts";

/** Headings of two lines, so that columns stay narrow. */
const heads: Readonly<Record<Fault, readonly [string, string]>> = {
  "request lost": ["request", "lost"],
  "answer lost": ["answer", "lost"],
  copied: ["", "copied"],
  overtaken: ["over-", "taken"],
  slow: ["", "slow"],
  "cut off": ["cut off", "both"],
  "cut off inwards": ["cut off", "inwards"],
  "cut off outwards": ["cut off", "outward"],
  "caller crash": ["caller", "crash"],
  "commit slow": ["commit", "slow"],
  "commit failed before": ["failed", "before"],
  "commit failed after": ["failed", "after"],
  "recovery failed": ["not re-", "covered"],
  "relay crash": ["relay", "crash"],
  "after restart": ["after", "restart"],
  "after stall": ["after", "stall"],
  "after clock jump": ["after", "jump"],
  "disk low": ["disk", "low"],
};

const name_width = 11;
const cannot = "·";

/** Done and refused; `·` where it cannot happen. */
export function stateTable(counts: CoverageCounts): readonly string[] {
  const width = 11;
  const cell = (state: (typeof states)[number], command: (typeof commands)[number]) => {
    if (!isStateReachable(state, command)) return cannot;
    return `${short(doneIn(counts, state, command))}/${short(refusedIn(counts, state, command))}`;
  };
  return [
    "".padStart(name_width) + states.map((state) => state.padStart(width)).join(""),
    ...commands.map(
      (command) => command.padStart(name_width) + states.map((state) => cell(state, command).padStart(width)).join(""),
    ),
  ];
}

export function faultTable(counts: CoverageCounts): readonly string[] {
  const width = 8;
  const line = (of: (fault: Fault) => string) => faults.map((fault) => of(fault).padStart(width)).join("");
  return [
    "".padStart(name_width) + line((fault) => heads[fault][0]),
    "".padStart(name_width) + line((fault) => heads[fault][1]),
    ...rows.map((row) => {
      const cell = (fault: Fault) => (isFaultReachable(row, fault) ? short(hitIn(counts, row, fault)) : cannot);
      return row.padStart(name_width) + line(cell);
    }),
  ];
}

/** 999, 12k, 3.4M: five characters at most. */
function short(count: number): string {
  if (count < 10_000) return String(count);
  if (count < 1_000_000) return `${Math.floor(count / 1_000)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}
