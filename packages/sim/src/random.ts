/** Seeded randomness (sfc32): everything that is left to chance in a simulation comes from one seed. */

export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    this.#a = seed | 0;
    this.#b = Math.trunc(seed / 2 ** 32) | 0;
    this.#c = 0x9e3779b9 | 0;
    for (let i = 0; i < 16; i += 1) this.next();
  }

  /** In [0, 1). */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number in [low, high]. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** Mostly small, now and then large: the waits of real networks and people. */
  skewed(low: number, high: number): number {
    return Math.round(low + (high - low) * this.next() ** 3);
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => Math.floor(this.next() * 256));
  }

  /** A stream of its own, so that one part's draws do not shift another's. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32) + Math.floor(this.next() * 2 ** 20) * 2 ** 32);
  }
}
