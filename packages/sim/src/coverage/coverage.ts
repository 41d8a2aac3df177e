/** Counts what was really exercised: each command in each state, and each fault at each command. */

import type { Command } from "@handfast/core";
import { type CoveredState, commands, type Fault, faults, type Row, rows, states } from "./rows.ts";

/** Plain data, to travel between threads: states × commands, done and refused; rows × faults. */
export interface CoverageCounts {
  readonly done: readonly number[];
  readonly refused: readonly number[];
  readonly hit: readonly number[];
}

const stateIndex = new Map(states.map((state, index) => [state, index]));
const commandIndex = new Map<Command["type"], number>(commands.map((command, index) => [command, index]));
const rowIndex = new Map(rows.map((row, index) => [row, index]));
const faultIndex = new Map(faults.map((fault, index) => [fault, index]));

export class Coverage {
  readonly #done = new Float64Array(states.length * commands.length);
  readonly #refused = new Float64Array(states.length * commands.length);
  readonly #hit = new Float64Array(rows.length * faults.length);

  decided(state: CoveredState, command: Command["type"], refused: boolean): void {
    const cells = refused ? this.#refused : this.#done;
    increment(cells, cellOf(state, command), 1);
  }

  hit(row: Row, fault: Fault): void {
    increment(this.#hit, hitOf(row, fault), 1);
  }

  addAll(counts: CoverageCounts): void {
    for (const [index, count] of counts.done.entries()) increment(this.#done, index, count);
    for (const [index, count] of counts.refused.entries()) increment(this.#refused, index, count);
    for (const [index, count] of counts.hit.entries()) increment(this.#hit, index, count);
  }

  counts(): CoverageCounts {
    return { done: [...this.#done], refused: [...this.#refused], hit: [...this.#hit] };
  }
}

export function doneIn(counts: CoverageCounts, state: CoveredState, command: Command["type"]): number {
  return counts.done[cellOf(state, command)] ?? 0;
}

export function refusedIn(counts: CoverageCounts, state: CoveredState, command: Command["type"]): number {
  return counts.refused[cellOf(state, command)] ?? 0;
}

export function hitIn(counts: CoverageCounts, row: Row, fault: Fault): number {
  return counts.hit[hitOf(row, fault)] ?? 0;
}

function increment(cells: Float64Array, index: number, by: number): void {
  cells[index] = (cells[index] ?? 0) + by;
}

function cellOf(state: CoveredState, command: Command["type"]): number {
  return (stateIndex.get(state) ?? 0) * commands.length + (commandIndex.get(command) ?? 0);
}

function hitOf(row: Row, fault: Fault): number {
  return (rowIndex.get(row) ?? 0) * faults.length + (faultIndex.get(fault) ?? 0);
}
