/** How many of something each caller has, and how many there are in all. */

export class Tally {
  readonly #by_caller = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(caller: string): number {
    return this.#by_caller.get(caller) ?? 0;
  }

  /** Counts one more; returns how to count it off, once. */
  add(caller: string): () => void {
    this.count(caller);
    let is_counted = true;
    return () => {
      if (!is_counted) return;
      is_counted = false;
      this.uncount(caller);
    };
  }

  count(caller: string): void {
    this.#total += 1;
    this.#by_caller.set(caller, this.of(caller) + 1);
  }

  /** Of one that was counted, once. */
  uncount(caller: string): void {
    this.#total -= 1;
    const left = this.of(caller) - 1;
    if (left === 0) this.#by_caller.delete(caller);
    else this.#by_caller.set(caller, left);
  }
}
