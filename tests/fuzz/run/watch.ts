/** Looks at the relay all along: whether it answers at all, how soon, and how much memory it takes. */

import { setTimeout } from "node:timers/promises";
import type { RelayUnderFire } from "./relay-under-fire.ts";

const every_ms = 250;
/** It hangs when it has not said for so long that it lives. */
const hangs_after_ms = 30_000;

export interface WatchOptions {
  readonly relay: RelayUnderFire;
  readonly rss_most_mb: number;
  readonly onFault: (what: string) => void;
}

export class Watch {
  readonly #options: WatchOptions;
  readonly rss_mb: number[] = [];
  probes = 0;
  slowest_ms = 0;
  #is_over = false;
  #watching: Promise<void>;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#watching = this.#watch();
  }

  async #watch(): Promise<void> {
    const { relay, rss_most_mb, onFault } = this.#options;
    while (!this.#is_over) {
      const rss_mb = relay.rss_mb;
      this.rss_mb.push(rss_mb);
      if (rss_mb > rss_most_mb) return onFault(`the relay takes ${rss_mb} MB, more than ${rss_most_mb}`);
      const fault = await this.#probe();
      if (fault !== null && !this.#is_over) return onFault(fault);
      await setTimeout(every_ms);
    }
  }

  async #probe(): Promise<string | null> {
    const began = performance.now();
    try {
      for (const path of ["/healthz", "/readyz"]) {
        const response = await fetch(this.#options.relay.url + path, { signal: AbortSignal.timeout(hangs_after_ms) });
        const text = await response.text();
        if (!response.ok) return `${path} was answered with ${response.status}: ${text}`;
      }
    } catch (error) {
      return `the relay does not say that it lives: ${String(error)}`;
    }
    this.probes += 1;
    this.slowest_ms = Math.max(this.slowest_ms, Math.round(performance.now() - began));
    return null;
  }

  async stop(): Promise<void> {
    this.#is_over = true;
    await this.#watching;
  }
}
