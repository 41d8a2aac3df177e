/**
 * A map of what comes and goes. A `Map` takes a new table after so many have come and gone, and the one it leaves leads to the next: once
 * one of them is old, the young generation's collections take for alive all that stands in those after it, though nobody can reach it, and move
 * it to where only a full collection frees it. Here each value stands in a cell of its own, which is emptied when the value goes.
 *
 * Keys stay behind: let them be small.
 */
export class Passing<Key extends string | number, Value> {
  readonly #cells = new Map<Key, { value: Value | undefined }>();

  get size(): number {
    return this.#cells.size;
  }

  get(key: Key): Value | undefined {
    return this.#cells.get(key)?.value;
  }

  has(key: Key): boolean {
    return this.#cells.has(key);
  }

  set(key: Key, value: Value): void {
    const cell = this.#cells.get(key);
    if (cell === undefined) this.#cells.set(key, { value });
    else cell.value = value;
  }

  delete(key: Key): boolean {
    const cell = this.#cells.get(key);
    if (cell === undefined) return false;
    cell.value = undefined;
    return this.#cells.delete(key);
  }

  /** In the order they came. */
  *values(): Generator<Value> {
    // A cell that is still there has a value, be it undefined itself.
    for (const { value } of this.#cells.values()) yield value as Value;
  }

  clear(): void {
    for (const cell of this.#cells.values()) cell.value = undefined;
    this.#cells.clear();
  }
}
