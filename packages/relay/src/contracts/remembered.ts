/** Answers that are dear to find, the latest so many of them. */

export class Remembered {
  readonly #most_kept: number;
  /** In the order of their last use. */
  readonly #known = new Map<string, boolean>();

  constructor(most_kept: number) {
    this.#most_kept = most_kept;
  }

  get(key: string, find: () => boolean): boolean {
    const found = this.#known.get(key) ?? find();
    this.#known.delete(key);
    const [oldest] = this.#known.keys();
    if (this.#known.size >= this.#most_kept && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(key, found);
    return found;
  }
}
