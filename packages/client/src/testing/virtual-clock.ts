/** A clock that stands still until it is told to move. Timers go off one at a time, in the order of their moments. */

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

export class VirtualClock {
  #now: number;
  readonly #timers = new Set<Timer>();
  readonly #onSet: () => void;

  /** `onSet` is told whenever a timer is set: something is going on. */
  constructor(now: number, onSet: () => void = () => {}) {
    this.#now = now;
    this.#onSet = onSet;
  }

  now(): number {
    return this.#now;
  }

  /** The answer calls it off. */
  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, Math.ceil(ms)), run };
    this.#timers.add(timer);
    this.#onSet();
    return () => this.#timers.delete(timer);
  }

  /** When the next timer goes off; null: none is set. */
  nextAt(): number | null {
    return this.#next()?.at ?? null;
  }

  /** Moves to the next timer that is due by then and runs it; false: there is none. */
  fireNext(until: number): boolean {
    const timer = this.#next();
    if (timer === undefined || timer.at > until) return false;
    this.#timers.delete(timer);
    this.#now = Math.max(this.#now, timer.at);
    timer.run();
    return true;
  }

  /** Moves on without running anything. */
  moveTo(at: number): void {
    this.#now = Math.max(this.#now, at);
  }

  /** Of two timers of one moment the one that was set first, as a Set keeps its order. */
  #next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (next === undefined || timer.at < next.at) next = timer;
    }
    return next;
  }
}
