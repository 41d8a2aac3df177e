/** Names in order, kept so while they come and go: a page of them needs no sorting. */

export class SortedNames {
  readonly #names: string[] = [];

  get size(): number {
    return this.#names.length;
  }

  add(name: string): void {
    const place = this.#place(name);
    if (this.#names[place] !== name) this.#names.splice(place, 0, name);
  }

  remove(name: string): void {
    const place = this.#place(name);
    if (this.#names[place] === name) this.#names.splice(place, 1);
  }

  all(): readonly string[] {
    return [...this.#names];
  }

  /** The first after it. */
  next(name: string): string | undefined {
    const place = this.#place(name);
    return this.#names[place] === name ? this.#names[place + 1] : this.#names[place];
  }

  *after(name: string): Generator<string> {
    const place = this.#place(name);
    for (let index = this.#names[place] === name ? place + 1 : place; index < this.#names.length; index += 1) {
      const found = this.#names[index];
      if (found !== undefined) yield found;
    }
  }

  /** Of the first that is not before it. */
  #place(name: string): number {
    let low = 0;
    let high = this.#names.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#names[middle] ?? "") < name) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
