/** How a batch changes the number of handoffs in each state, by sender: written once for the whole batch. */

import type { State } from "@handfast/core";
import type { Connection } from "./connection.ts";
import { addCounts, countedStates } from "./sql/handoff.ts";

const places = Object.fromEntries(countedStates.map((state, place) => [state, place]));

export class Counts {
  readonly #connection: Connection;
  /** By namespace, then sender: one number for each of `countedStates`. */
  readonly #deltas = new Map<string, Map<string, number[]>>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** A handoff of this sender left one state and came into another; null: it was or is not there. */
  move(namespace: string, sender: string, before: State | null, after: State | null): void {
    if (before === after) return;
    const deltas = this.#of(namespace, sender);
    if (before !== null) add(deltas, before, -1);
    if (after !== null) add(deltas, after, 1);
  }

  write(): void {
    for (const [namespace, senders] of this.#deltas) {
      for (const [sender, deltas] of senders) {
        if (deltas.some((delta) => delta !== 0)) this.#connection.run(addCounts, namespace, sender, ...deltas);
      }
    }
    this.#deltas.clear();
  }

  #of(namespace: string, sender: string): number[] {
    let senders = this.#deltas.get(namespace);
    if (senders === undefined) {
      senders = new Map();
      this.#deltas.set(namespace, senders);
    }
    let deltas = senders.get(sender);
    if (deltas === undefined) {
      deltas = countedStates.map(() => 0);
      senders.set(sender, deltas);
    }
    return deltas;
  }
}

function add(deltas: number[], state: State, delta: number): void {
  const place = places[state] ?? -1;
  deltas[place] = (deltas[place] ?? 0) + delta;
}
