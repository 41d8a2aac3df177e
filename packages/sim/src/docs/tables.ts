/** The tables of docs/simulation.md, made from what the code itself goes by. */

import { invariants } from "../checks/invariants.ts";
import { cells, unreachableFaults, unreachableStates } from "../coverage/reachable.ts";
import { commands, faults, rows, states } from "../coverage/rows.ts";
import { mistakes } from "../mistakes/mistakes.ts";
import type { Hunt } from "../run/run-threads.ts";
import type { FaultName } from "../scenario/faults.ts";

const faultWords: Readonly<Record<FaultName, string>> = {
  request_lost: "a request never arrives",
  answer_lost: "an answer never arrives; now and then the relay notices, and gives a lease back",
  duplicated: "a request arrives twice",
  slow: "a message takes up to 40 s, and others overtake it",
  delay_most_ms: "how long messages take otherwise: up to 2 ms or up to 2 s",
  partition_every_ms: "one actor, half of them or all are cut off for up to 90 s: both ways, inwards, or outwards only",
  commit_fails_before: "a commit fails and nothing of it is on disk",
  commit_fails_after: "a commit fails and all of it is on disk",
  commit_slow: "a commit takes up to 15 s",
  recovery_fails: "after a failed commit the disk cannot be read, and the relay dies of it",
  disk_low_every_ms: "the disk is nearly full for up to 40 s",
  relay_crash_every_ms:
    "the relay's process is gone at once, in the middle of whatever it did; the machine's clock may be set meanwhile",
  relay_restart_every_ms: "the relay stops in good order and starts again",
  relay_stall_every_ms: "the relay's process stands still for up to a minute, and may be killed while it does",
  clock_jump_every_ms: "the relay's clock jumps ahead by up to two minutes",
  manifest_change_every_ms: "an agent changes what it takes; what was accepted before may not fit any more",
  sender_crash_every_ms: "a sender or a desk dies and knows nothing of what it had sent",
  worker_crash: "a worker dies at work, and comes back as itself or as a stranger",
  never_ack: "a worker never acknowledges",
  hang: "a worker acknowledges or asks, and is not heard of again for a while",
  beat_but_hang: "a worker beats and does not get on",
  late_outcome: "a worker that lost its lease says what came of it all the same",
  contradicts: "a worker says one thing, then another, under one fence",
  unfit_output: "output does not fit its schema, up to five times",
  fail: "an attempt fails, for good or not",
  reject: "an agent will not do it",
  release: "a worker gives a lease back",
  stale_child: "a child is handed on under a fence that is over",
  no_answer: "whoever should answer a question does not",
};

export function faultsTable(): readonly string[] {
  return table(
    ["fault", "what happens"],
    Object.entries(faultWords).map(([name, words]) => [`\`${name}\``, words]),
  );
}

/** One line for each area; where each is checked stands in docs/invariants.md. */
export function invariantsTable(): readonly string[] {
  const byArea = Map.groupBy(Object.entries(invariants), ([, area]) => area);
  return table(
    ["about", "what must hold"],
    [...byArea].map(([area, entries]) => [area, entries.map(([name]) => name).join(" · ")]),
  );
}

export function unreachableTable(): readonly string[] {
  const reachable = cells();
  return [
    `States × commands: ${reachable.states} cells can be reached. Commands × faults: ${reachable.faults}. The others cannot, because:`,
    "",
    ...table(
      ["command or call", "state or fault that it cannot meet", "why not"],
      [
        ...unreachableStates.map(({ across, down, why }) => [named(down, commands), named(across, states), why]),
        ...unreachableFaults.map(({ across, down, why }) => [named(down, rows), named(across, faults), why]),
      ],
    ),
  ];
}

/** Where it is nearly all of them, those that it is not are named instead. */
function named(some: readonly string[], all: readonly string[]): string {
  const others = all.filter((one) => !some.includes(one));
  return others.length > 2 ? some.join(", ") : `all but ${others.join(", ")}`;
}

/** `hunts`: by which check each was found in one run; the rest is the catalogue. */
export function mistakesTable(hunts: readonly Hunt[]): readonly string[] {
  return table(
    ["mistake", "what it does", "known from", "found by", "worlds", "handoffs"],
    Object.entries(mistakes).map(([name, { what, who }]) => {
      const hunt = hunts.find(({ mistake }) => mistake === name);
      const found = hunt?.failure?.invariant ?? "not found";
      return [`\`${name}\``, what, who, found, counted(hunt?.seeds), counted(hunt?.handoffs)];
    }),
  );
}

function counted(number: number | undefined): string {
  return number === undefined ? "" : number.toLocaleString("en");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cellsOf: readonly string[]) => `| ${cellsOf.join(" | ")} |`;
  return [line(head), `|${head.map(() => "---|").join("")}`, ...rows.map(line)];
}
