/** Calls whose answers may be pages of payloads take their turns: a thousand of them at once would fill the memory. */

const pageOperations: ReadonlySet<string> = new Set([
  "list",
  "outcomes",
  "correlation",
  "questions",
  "dead_letters",
  "dead_letter",
  "get_artifact",
  "put_artifact",
  "log",
  "agents",
  "openapi",
  "metrics",
]);

export class PageLane<T> {
  readonly #most: number;
  readonly #run: (call: T) => void;
  readonly #waiting: T[] = [];
  #running = 0;
  #is_held = false;

  constructor(most: number, run: (call: T) => void) {
    this.#most = most;
    this.#run = run;
  }

  /** Runs it now, or in its turn. */
  enter(call: T, op: string): void {
    if (!pageOperations.has(op)) return this.#run(call);
    this.#waiting.push(call);
    this.#next();
  }

  /** One that ran is done. */
  leave(op: string): void {
    if (!pageOperations.has(op)) return;
    this.#running -= 1;
    this.#next();
  }

  /** While the peer has much to take, no further page is made for it. */
  hold(is_held: boolean): void {
    this.#is_held = is_held;
    this.#next();
  }

  /** True where it had not begun: it is counted as if it had, so that whoever drops it reports it done. */
  drop(call: T): boolean {
    const at = this.#waiting.indexOf(call);
    if (at < 0) return false;
    this.#waiting.splice(at, 1);
    this.#running += 1;
    return true;
  }

  /** All that had not begun, counted as if they had. */
  clear(): readonly T[] {
    const dropped = this.#waiting.splice(0);
    this.#running += dropped.length;
    return dropped;
  }

  #next(): void {
    while (this.#running < this.#most && !this.#is_held) {
      const call = this.#waiting.shift();
      if (call === undefined) return;
      this.#running += 1;
      this.#run(call);
    }
  }
}
