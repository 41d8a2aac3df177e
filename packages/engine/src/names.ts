/**
 * A map by namespace and name (an id, an agent, a lane). Two steps instead of one joined key: a name keeps the hash it was
 * given once, a joined text would be made and hashed anew at every look.
 */

import { Passing } from "./passing.ts";

export class Names<Value> {
  readonly #spaces = new Map<string, Passing<string, Value>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(namespace: string, name: string): Value | undefined {
    return this.#spaces.get(namespace)?.get(name);
  }

  has(namespace: string, name: string): boolean {
    return this.#spaces.get(namespace)?.has(name) === true;
  }

  set(namespace: string, name: string, value: Value): void {
    let space = this.#spaces.get(namespace);
    if (space === undefined) {
      space = new Passing();
      this.#spaces.set(namespace, space);
    }
    const before = space.size;
    space.set(name, value);
    this.#size += space.size - before;
  }

  delete(namespace: string, name: string): boolean {
    const space = this.#spaces.get(namespace);
    if (space?.delete(name) !== true) return false;
    this.#size -= 1;
    if (space.size === 0) this.#spaces.delete(namespace);
    return true;
  }

  /** Everything in one namespace, in the order it came. */
  of(namespace: string): Iterable<Value> {
    return this.#spaces.get(namespace)?.values() ?? [];
  }

  *values(): Iterable<Value> {
    for (const space of this.#spaces.values()) yield* space.values();
  }

  clear(): void {
    this.#spaces.clear();
    this.#size = 0;
  }
}
