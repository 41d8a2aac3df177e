/**
 * Handoffs that time should change but that a mistake of ours keeps from it. They are passed over for a while, so that
 * however many there are, everybody else's clocks go on.
 */

import type { Duration, Time } from "@handfast/core";

const rest_ms: Duration = 60_000;
const most = 10_000;

export class Poison {
  readonly #until = new Map<string, Time>();

  get size(): number {
    return this.#until.size;
  }

  add(key: string, now: Time): void {
    this.#until.delete(key);
    this.#until.set(key, now + rest_ms);
    if (this.#until.size <= most) return;
    const oldest = this.#until.keys().next();
    if (!oldest.done) this.#until.delete(oldest.value);
  }

  has(key: string, now: Time): boolean {
    const until = this.#until.get(key);
    if (until === undefined) return false;
    if (until > now) return true;
    this.#until.delete(key);
    return false;
  }
}
