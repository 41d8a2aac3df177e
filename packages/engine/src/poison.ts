/**
 * Handoffs that time should change but that a mistake of ours keeps from it. They are passed over for a while, so that
 * however many there are, everybody else's clocks go on.
 */

import type { Duration, Time } from "@handfast/core";

const rest_ms: Duration = 60_000;
const most = 10_000;

export class Poison {
  /** In the order they came. */
  readonly #until = new Map<string, Time>();

  get size(): number {
    return this.#until.size;
  }

  add(namespace: string, id: string, now: Time): void {
    const key = keyOf(namespace, id);
    this.#until.delete(key);
    this.#until.set(key, now + rest_ms);
    if (this.#until.size <= most) return;
    const oldest = this.#until.keys().next();
    if (!oldest.done) this.#until.delete(oldest.value);
  }

  has(namespace: string, id: string, now: Time): boolean {
    if (this.#until.size === 0) return false;
    const key = keyOf(namespace, id);
    const until = this.#until.get(key);
    if (until === undefined) return false;
    if (until > now) return true;
    this.#until.delete(key);
    return false;
  }
}

function keyOf(namespace: string, id: string): string {
  return `${namespace} ${id}`;
}
