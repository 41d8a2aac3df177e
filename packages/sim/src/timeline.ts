/**
 * Virtual time: a queue of what will happen, ordered by time and, at the same time, by who asked first.
 *
 * The engine awaits promises, so time goes on only when no microtask is left: one turn of Node's loop after each event.
 * Nothing in a simulation does real I/O, therefore one turn is enough.
 */

import type { Duration, Time } from "@handfast/core";

interface Entry {
  readonly at: Time;
  readonly order: number;
  callback: (() => void) | null;
}

export class Timeline {
  now: Time;
  readonly #heap: Entry[] = [];
  #order = 0;

  constructor(start: Time) {
    this.now = start;
  }

  schedule(delay_ms: Duration, callback: () => void): () => void {
    const entry: Entry = { at: this.now + Math.max(0, Math.round(delay_ms)), order: this.#order++, callback };
    this.#push(entry);
    return () => {
      entry.callback = null;
    };
  }

  sleep(delay_ms: Duration): Promise<void> {
    return new Promise((resolve) => this.schedule(delay_ms, resolve));
  }

  /** Lets things happen until the condition holds, or until `latest`; says whether it holds. */
  async run(isOver: () => boolean, latest: Time): Promise<boolean> {
    await loopTurn();
    while (!isOver()) {
      const entry = this.#pop();
      if (entry === undefined || entry.at > latest) {
        if (entry !== undefined) this.#push(entry);
        this.now = Math.max(this.now, latest);
        return false;
      }
      if (entry.callback === null) continue;
      this.now = entry.at;
      entry.callback();
      await loopTurn();
    }
    return true;
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    heap.push(entry);
    let index = heap.length - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      if (!this.#swapIfLater(above, index)) return;
      index = above;
    }
  }

  #pop(): Entry | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || first === last) return first;
    heap[0] = last;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const right = left + 1;
      const child = right < heap.length && this.#isLater(left, right) ? right : left;
      if (child >= heap.length || !this.#swapIfLater(index, child)) return first;
      index = child;
    }
  }

  #isLater(a: number, b: number): boolean {
    const [first, second] = [this.#heap[a], this.#heap[b]];
    if (first === undefined || second === undefined) return false;
    return first.at > second.at || (first.at === second.at && first.order > second.order);
  }

  #swapIfLater(above: number, below: number): boolean {
    if (!this.#isLater(above, below)) return false;
    const [first, second] = [this.#heap[above], this.#heap[below]];
    if (first === undefined || second === undefined) return false;
    this.#heap[above] = second;
    this.#heap[below] = first;
    return true;
  }
}

function loopTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
