/**
 * Whether the relay is still there. A check that broke because it went away says nothing about its promise; one that
 * comes back soon, because somebody watches over it, is not gone: not to answer is then what the check found.
 */

import { setTimeout as pause } from "node:timers/promises";
import { answer_within_ms } from "../caller/link.ts";
import { NotRestarted } from "../untriable.ts";

const look_every_ms = 100;

interface PresenceOptions {
  readonly url: string;
  readonly restart: (() => Promise<void>) | null;
  /** How long it may be away. */
  readonly away_ms?: number;
}

export class Presence {
  readonly #options: Required<PresenceOptions>;
  #looking: Promise<boolean> | null = null;
  #restarting: Promise<void> = Promise.resolve();
  #isGone = false;

  constructor({ away_ms = 5_000, ...options }: PresenceOptions) {
    this.#options = { away_ms, ...options };
  }

  /** It was found to be gone; it is not looked for again. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Looks for it, together with others that ask meanwhile. */
  async isGoneNow(): Promise<boolean> {
    if (this.#isGone) return true;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  /** While it is restarted it is not gone. */
  async restart(): Promise<void> {
    const restart = this.#options.restart ?? (() => Promise.reject(new Error("there is no way to restart it")));
    const done = restart().catch((error: unknown) => {
      throw new NotRestarted(error instanceof Error ? error.message : String(error));
    });
    this.#restarting = done.catch(() => undefined);
    await done;
  }

  async #look(): Promise<boolean> {
    await this.#restarting;
    const until = performance.now() + this.#options.away_ms;
    while (!(await answers(this.#options.url))) {
      this.#isGone = performance.now() > until;
      if (this.#isGone) return true;
      await pause(look_every_ms);
    }
    return false;
  }
}

/** With whatever. */
async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(answer_within_ms) });
    await response.body?.cancel();
    return true;
  } catch {
    return false;
  }
}
