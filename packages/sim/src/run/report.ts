/** What a run tells at its end. */

import type { Duration } from "@handfast/core";
import { type Invariant, invariants } from "../checks/invariants.ts";
import { gapsOf } from "../coverage/gaps.ts";
import { cells } from "../coverage/reachable.ts";
import { faultTable, stateTable } from "../coverage/tables.ts";
import { mistakes } from "../mistakes/mistakes.ts";
import type { Failure, SeedsResult } from "./run-seeds.ts";
import type { Hunt } from "./run-threads.ts";
import { Tally } from "./tally.ts";

/** From so many handoffs on, every cell that can be reached must have been, and every check made. */
const enough_handoffs = 150_000;

const names_shown = 12;

/** What is wrong with the run itself, whether or not a promise was broken. */
export interface Verdict {
  readonly failure: Failure | null;
  /** Cells that could be reached and were not; these count only in a run that is large enough. */
  readonly empty: readonly string[];
  readonly impossible: readonly string[];
  readonly unlooked: readonly Invariant[];
  readonly passed: boolean;
}

export function verdictOf(result: SeedsResult): Verdict {
  const { failure, handoffs, coverage, looks } = result;
  const { empty, impossible } = gapsOf(coverage);
  const unlooked = invariantNames().filter((name) => invariants[name] !== "the run as a whole" && !looks[name]);
  const isComplete = handoffs < enough_handoffs || (empty.length === 0 && unlooked.length === 0);
  return { failure, empty, impossible, unlooked, passed: failure === null && impossible.length === 0 && isComplete };
}

function invariantNames(): readonly Invariant[] {
  return Object.keys(invariants).filter((name): name is Invariant => Object.hasOwn(invariants, name));
}

export function summary(result: SeedsResult, wall_ms: Duration): readonly string[] {
  const tally = new Tally();
  tally.addAll(result.counts);
  const { seeds, twice, handoffs, virtual_ms, drained_most_ms, looks } = result;
  const { failure, empty, impossible, unlooked } = verdictOf(result);
  const checked = Object.values(looks).reduce((sum, count) => sum + (count ?? 0), 0);
  const rate = Math.round(handoffs / (wall_ms / 1_000));
  const whether = handoffs < enough_handoffs ? ` (they count from ${enough_handoffs} handoffs on)` : "";
  return [
    ...tally.lines(),
    `states × commands, done/refused; · cannot happen; ${cells().states} cells can`,
    ...stateTable(result.coverage),
    `commands × faults; ${cells().faults} cells can happen`,
    ...faultTable(result.coverage),
    ...(empty.length === 0 ? [] : [`${empty.length} cells are empty${whether}: ${some(empty)}`]),
    ...(impossible.length === 0 ? [] : [`cannot happen, and did: ${impossible.join(" · ")}`]),
    ...(unlooked.length === 0 ? [] : [`never checked${whether}: ${some(unlooked)}`]),
    `${checked} checks of ${Object.keys(invariants).length} promises`,
    `after healing nothing was open within ${(drained_most_ms / 1_000).toFixed(0)} s of virtual time`,
    `${seeds} seeds, ${twice} of them twice · ${handoffs} handoffs · ${(virtual_ms / 3_600_000).toFixed(1)} h of virtual time · ${(wall_ms / 1_000).toFixed(1)} s · ${rate} handoffs/s`,
    failure === null ? "0 violations" : "1 violation",
  ];
}

function some(names: readonly string[]): string {
  return names.length <= names_shown ? names.join(" · ") : `${names.slice(0, names_shown).join(" · ")} · …`;
}

export function failureReport(failure: Failure): readonly string[] {
  const { seed, invariant, about, message, tail } = failure;
  return [
    `seed ${seed} violates "${invariant}" for ${about}`,
    message,
    ...tail.map((line) => `  ${line}`),
    `replay: ${replay(failure)} --trace`,
    `smaller: ${replay(failure)} --shrink`,
  ];
}

function replay({ seed, handoffs, without, mistake }: Failure): string {
  const options = [
    `--seed ${seed}`,
    `--handoffs ${handoffs}`,
    ...(without.length === 0 ? [] : [`--without ${without.join(",")}`]),
    ...(mistake === null ? [] : [`--mistake ${mistake}`]),
  ];
  return `npm run sim -- ${options.join(" ")}`;
}

/** One line per mistake: by which check it was found, after how much. */
export function huntReport(hunts: readonly Hunt[]): readonly string[] {
  const width = Math.max(...Object.keys(mistakes).map(({ length }) => length)) + 2;
  return hunts.map(({ mistake, seeds, handoffs, failure }) => {
    const how = failure === null ? "NOT FOUND" : `found: ${failure.invariant}`;
    return `${mistake.padEnd(width)}${how} (${seeds} ${seeds === 1 ? "seed" : "seeds"}, ${handoffs} handoffs)`;
  });
}
