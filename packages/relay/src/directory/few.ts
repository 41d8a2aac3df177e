/** A set that mostly has one member, of which there are many: with one it needs no table. Members are never undefined. */
export class Few<Item> implements Iterable<Item> {
  #held: Item | Set<Item> | undefined;

  get size(): number {
    if (this.#held === undefined) return 0;
    return this.#held instanceof Set ? this.#held.size : 1;
  }

  has(item: Item): boolean {
    return this.#held instanceof Set ? this.#held.has(item) : this.#held === item;
  }

  add(item: Item): this {
    if (this.#held instanceof Set) this.#held.add(item);
    else if (this.#held === undefined) this.#held = item;
    else if (this.#held !== item) this.#held = new Set([this.#held, item]);
    return this;
  }

  delete(item: Item): boolean {
    if (this.#held instanceof Set) return this.#held.delete(item);
    if (this.#held !== item) return false;
    this.#held = undefined;
    return true;
  }

  /** In the order they came. */
  [Symbol.iterator](): Iterator<Item> {
    if (this.#held instanceof Set) return this.#held.values();
    return (this.#held === undefined ? [] : [this.#held]).values();
  }
}
