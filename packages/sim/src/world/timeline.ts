/**
 * Virtual time: a queue of what will happen, ordered by time and, at the same time, by who asked first.
 *
 * The engine awaits promises, so time goes on only when no microtask is left. Node runs its ticks when the microtasks are
 * over: a tick asked for from within a microtask comes after all of them, at a third of what a turn of the loop costs.
 * Nothing in a simulation does real I/O, therefore that is enough.
 */

import type { Duration, Time } from "@handfast/core";

interface Entry {
  readonly at: Time;
  readonly order: number;
  callback: (() => void) | null;
}

/** A real turn of the loop now and then, so that rejections nobody handled are noticed and the thread hears of others. */
const steps_per_turn = 1_024;
const settled = Promise.resolve();

export class Timeline {
  now: Time;
  readonly #heap: Entry[] = [];
  #order = 0;
  #steps = 0;

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
  run(isOver: () => boolean, latest: Time): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const inTurn = () => process.nextTick(step);
      const step = () => {
        try {
          if (isOver()) return resolve(true);
          const callback = this.#next(latest);
          if (callback === null) return resolve(isOver());
          callback();
        } catch (error) {
          return reject(error);
        }
        this.#steps += 1;
        if (this.#steps % steps_per_turn === 0) setImmediate(step);
        else settled.then(inTurn);
      };
      setImmediate(step);
    });
  }

  /** What happens next, with the clock set to it; null: nothing until `latest`. */
  #next(latest: Time): (() => void) | null {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || first.at > latest) {
        this.now = Math.max(this.now, latest);
        return null;
      }
      this.#pop();
      if (first.callback === null) continue;
      this.now = first.at;
      return first.callback;
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !isLater(parent, entry)) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const one = heap[left];
      if (one === undefined) break;
      const other = heap[left + 1];
      const isOther = other !== undefined && isLater(one, other);
      const child = isOther ? other : one;
      if (!isLater(last, child)) break;
      heap[index] = child;
      index = isOther ? left + 1 : left;
    }
    heap[index] = last;
  }
}

function isLater(a: Entry, b: Entry): boolean {
  return a.at > b.at || (a.at === b.at && a.order > b.order);
}
