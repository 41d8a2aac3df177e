/**
 * Virtual time as a test rules it: it passes timer by timer, and after each of them everything comes to rest before the
 * clock moves on, so that what happens at one moment is over before the next.
 */

import { type Duration, toMilliseconds } from "../duration.ts";
import { UsageError } from "../errors.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** How much virtual time `until` lets pass when it is not told otherwise. */
const longest_wait = "1d";

export interface UntilOptions {
  /** How much virtual time may pass. Default: a day. */
  readonly within?: Duration;
}

export class VirtualTime {
  readonly #clock: VirtualClock;
  readonly #settle: () => Promise<void>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(clock: VirtualClock, settle: () => Promise<void>) {
    this.#clock = clock;
    this.#settle = settle;
  }

  settle(): Promise<void> {
    return this.#settle();
  }

  advance(duration: Duration): Promise<void> {
    const ms = toMilliseconds(duration, "advance()");
    return this.#inTurn(async () => {
      const until = this.#clock.now() + ms;
      await this.#settle();
      while (this.#clock.fireNext(until)) await this.#settle();
      this.#clock.moveTo(until);
      await this.#settle();
    });
  }

  async until<T>(promise: PromiseLike<T>, { within = longest_wait }: UntilOptions = {}): Promise<T> {
    const ms = toMilliseconds(within, "The option within");
    let settled = false;
    const mark = () => {
      settled = true;
    };
    promise.then(mark, mark);
    const happened = await this.#inTurn(() => this.#passUntil(() => settled, ms));
    if (!happened) {
      throw new UsageError(
        `What was waited for did not happen within ${within} of virtual time (it is ${this.#shown()} now).`,
        "Look at relay.events() for what did happen; give more time with { within }; or await it without relay.until, " +
          "where it waits for something real, such as a file or a network, which the virtual clock does not wait for.",
        "never_happened",
      );
    }
    return promise;
  }

  /** Lets time pass from timer to timer until it is so, for so long at most; whether it is so. */
  passUntil(isSo: () => boolean, most_ms: number): Promise<boolean> {
    return this.#inTurn(() => this.#passUntil(isSo, most_ms));
  }

  async #passUntil(isSo: () => boolean, most_ms: number): Promise<boolean> {
    const latest = this.#clock.now() + most_ms;
    await this.#settle();
    while (!isSo() && this.#clock.fireNext(latest)) await this.#settle();
    return isSo();
  }

  sleep(duration: Duration): Promise<void> {
    const ms = toMilliseconds(duration, "sleep()");
    return new Promise((resolve) => this.#clock.after(ms, resolve));
  }

  /** Two that ask for time to pass get it one after the other. */
  #inTurn<T>(pass: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(pass);
    this.#last = mine.catch(() => {});
    return mine;
  }

  #shown(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}
