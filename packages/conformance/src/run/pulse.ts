/**
 * Notices when the relay, or the machine, stands still. The specification forgives leases for a stall, so a check of a
 * clock that met one has seen a relay that did right and looks as if it did not: it is tried again.
 */

import { setTimeout as pause } from "node:timers/promises";

const look_every_ms = 200;
/** Relays need not tell a shorter stall from none. */
const stall_ms = 400;

export class Pulse {
  readonly #url: string;
  readonly #ended = new AbortController();
  #stalled_at = Number.NEGATIVE_INFINITY;

  constructor(url: string) {
    this.#url = url;
  }

  /** Looks until it is stopped. */
  async run(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      const began = performance.now();
      await fetch(`${this.#url}/healthz`, { signal })
        .then((response) => response.arrayBuffer())
        .catch(() => undefined);
      await pause(look_every_ms, undefined, { signal }).catch(() => undefined);
      if (performance.now() - began > look_every_ms + stall_ms) this.#stalled_at = performance.now();
    }
  }

  /** Whether it, or we, stood still at some moment since then. */
  hasStalledSince(at: number): boolean {
    return this.#stalled_at >= at;
  }

  stop(): void {
    this.#ended.abort();
  }
}
