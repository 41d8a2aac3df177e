/**
 * How often a queue is read far beyond the free slots in vain. Work that routing holds back may be held for long, and each batch
 * would read past all of it again: once in a while is enough, since time brings the next look anyway.
 */

import type { Duration, Time } from "@handfast/core";
import { Names } from "./names.ts";

const most_remembered = 10_000;

export class FarLooks {
  readonly #pause_ms: Duration;
  /** Until when a queue is not read far again. */
  readonly #until = new Names<Time>();

  /** 0: as often as there is reason to. */
  constructor(pause_ms: Duration) {
    this.#pause_ms = pause_ms;
  }

  /** Whether one of these may be read further. */
  mayGo(namespace: string, queues: ReadonlySet<string>, now: Time): boolean {
    for (const queue of queues) if ((this.#until.get(namespace, queue) ?? 0) <= now) return true;
    return false;
  }

  /** They were read as far as it goes, and nothing could be given. */
  inVain(namespace: string, queues: ReadonlySet<string>, now: Time): void {
    if (this.#pause_ms === 0) return;
    if (this.#until.size > most_remembered) this.#until.clear();
    for (const queue of queues) this.#until.set(namespace, queue, now + this.#pause_ms);
  }
}
