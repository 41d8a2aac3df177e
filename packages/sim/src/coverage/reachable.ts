/**
 * Which cells of the coverage can be reached at all. Everything is, but for what is named here with its reason: a cell
 * that is named and was hit is as much a fault as one that is not named and stayed empty.
 */

import {
  type CoveredState,
  commands,
  type Fault,
  faults,
  otherCalls,
  type Row,
  relayCommands,
  rows,
  states,
} from "./rows.ts";

type CommandName = (typeof commands)[number];

interface Unreachable<Across, Down> {
  readonly across: readonly Across[];
  readonly down: readonly Down[];
  readonly why: string;
}

const ends = ["completed", "failed", "rejected", "canceled", "expired"] as const;
const allBut = <T>(all: readonly T[], ...some: readonly T[]) => all.filter((one) => !some.includes(one));

/** States (across) in which a command (down) is never decided. */
export const unreachableStates: readonly Unreachable<CoveredState, CommandName>[] = [
  { across: ["none"], down: allBut(commands, "submit"), why: "what never was is counted as gone" },
  { across: ["gone"], down: ["submit"], why: "for a submit, what is gone is as if it never was" },
  {
    across: allBut(states, "none", "gone", "queued"),
    down: ["deliver", "exclude"],
    why: "only what is ready is offered to a worker",
  },
  { across: ["gone"], down: ["deliver", "exclude", "unblock", "adopt"], why: "only what is open is found for it" },
  { across: ends, down: ["unblock"], why: "the first open one of a lane is looked for" },
  {
    across: ["queued", "delayed", "blocked", "parked", ...ends],
    down: ["adopt"],
    why: "a child is accepted only under its parent's live lease, and on one node the parent's clocks are settled first",
  },
  { across: ["blocked"], down: ["charge"], why: "what was never delivered has nothing below it" },
  {
    across: ["gone"],
    down: ["tick", "swept", "routed"],
    why: "nothing is removed while time or a chore is to change it",
  },
  {
    across: ["queued", "delayed", "blocked", "delivered", "working", "waiting", "parked"],
    down: ["swept", "routed"],
    why: "chores come after the end",
  },
  { across: ["completed", "canceled"], down: ["routed"], why: "these are no dead letters" },
];

const network = [
  "request lost",
  "answer lost",
  "copied",
  "overtaken",
  "slow",
  "cut off",
  "cut off inwards",
  "cut off outwards",
  "caller crash",
] as const;
const commit = ["commit slow", "commit failed before", "commit failed after", "recovery failed"] as const;

/** Faults (across) that cannot meet a command or call (down). */
export const unreachableFaults: readonly Unreachable<Fault, Row>[] = [
  { across: network, down: relayCommands, why: "the relay gives it to itself" },
  { across: commit, down: otherCalls, why: "it writes nothing itself" },
];

export function isStateReachable(state: CoveredState, command: CommandName): boolean {
  return !unreachableStates.some(({ across, down }) => across.includes(state) && down.includes(command));
}

export function isFaultReachable(row: Row, fault: Fault): boolean {
  return !unreachableFaults.some(({ across, down }) => across.includes(fault) && down.includes(row));
}

/** How many cells there are, and how many of them can be reached. */
export function cells(): { readonly states: string; readonly faults: string } {
  let [reachableStates, reachableFaults] = [0, 0];
  for (const state of states)
    for (const command of commands) if (isStateReachable(state, command)) reachableStates += 1;
  for (const row of rows) for (const fault of faults) if (isFaultReachable(row, fault)) reachableFaults += 1;
  return {
    states: `${reachableStates} of ${states.length * commands.length}`,
    faults: `${reachableFaults} of ${rows.length * faults.length}`,
  };
}
