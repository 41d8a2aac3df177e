/**
 * Whoever sleeps until a handoff has ended (a graph's thread, a paused run) is woken by its outcome. An outcome stays in
 * the relay's list until it is taken, and it is taken only when the sleeper is awake: a process that is killed in between
 * finds it there again. For one sleeper outcomes are dealt with one after the other. What cannot be woken is tried again
 * after a pause, a few times, and then left in the list for the next start.
 */

import type { Client, Handle, HandoffView } from "@handfast/client";
import { HandfastError, HandoffError } from "@handfast/client";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { inTurn, type Lock } from "./turns.ts";

/** What an adapter knows of those that sleep. */
export interface Sleepers {
  /** Whom an outcome is for, by what its handoff was labelled with; null: not one of these. */
  keyOf(view: HandoffView): string | null;
  /** Wakes it, and resolves once it is awake, or needs not be woken. What it resolves with is told to `onWoken`. */
  wake(call: WakeCall): Promise<string>;
}

export interface WakeCall {
  readonly key: string;
  readonly view: HandoffView;
  readonly outcome: Outcome;
  /** The handoff, and those that it redrives: the sleeper waits for one of them. */
  readonly handoffs: readonly string[];
  /** Aborted when the waker stops and its grace is over. */
  readonly signal: AbortSignal;
}

export interface Woken {
  readonly handoff: string;
  readonly key: string;
  readonly how: string;
}

export interface WakeOptions {
  /** Go on with what comes. False: end after what is there now. Default: true. */
  readonly follow?: boolean;
  /** A lock that holds across processes, where several of them wake the same sleepers. Default: one of this process. */
  readonly lock?: Lock;
  /** How many are woken at once. Default: 10. */
  readonly concurrency?: number;
  /** How often one is tried. Default: 3. */
  readonly attempts?: number;
  /** Before another try; it doubles each time. Default: 1 second. */
  readonly pause?: number;
  readonly onWoken?: (woken: Woken) => void;
  /** Told of one that could not be woken: its outcome stays at the relay. Default: a warning of the process. */
  readonly onError?: (error: unknown, about: { readonly handoff: string; readonly key: string }) => void;
}

export interface Waker {
  /** Takes up nothing new, lets what is under way end for so long (milliseconds, default 20 s), then aborts it. */
  stop(options?: { readonly grace?: number }): Promise<void>;
  /** Resolves when nothing is under way any more. */
  readonly stopped: Promise<void>;
}

export function wakeByOutcomes(hf: Client, sleepers: Sleepers, options: WakeOptions = {}): Waker {
  const waking = new Waking(hf, sleepers, options);
  const stopped = waking.run();
  return {
    stopped,
    stop: async ({ grace = 20_000 } = {}) => {
      waking.end();
      const timer = setTimeout(() => waking.abort(), grace);
      await stopped.finally(() => clearTimeout(timer));
    },
  };
}

class Waking {
  readonly #hf: Client;
  readonly #sleepers: Sleepers;
  readonly #options: WakeOptions;
  readonly #ending = new AbortController();
  readonly #aborting = new AbortController();

  constructor(hf: Client, sleepers: Sleepers, options: WakeOptions) {
    this.#hf = hf;
    this.#sleepers = sleepers;
    this.#options = options;
  }

  end(): void {
    this.#ending.abort();
  }

  abort(): void {
    this.#aborting.abort(new HandfastError("What wakes by outcomes was stopped.", stopped));
  }

  async run(): Promise<void> {
    const underway = new Set<Promise<void>>();
    const { follow = true, concurrency = 10 } = this.#options;
    try {
      for await (const handle of this.#hf.outcomes({ follow, signal: this.#ending.signal })) {
        const key = this.#sleepers.keyOf(handle.view);
        if (key === null) continue;
        const one = this.#deal(handle, handle.view, key).finally(() => underway.delete(one));
        underway.add(one);
        if (underway.size >= concurrency) await Promise.race(underway);
        if (this.#ending.signal.aborted) break;
      }
    } catch (error) {
      if (!this.#ending.signal.aborted) this.#tell(error, "all of them", "");
    }
    await Promise.all(underway);
  }

  async #deal(handle: Handle, view: HandoffView, key: string): Promise<void> {
    const { attempts = 3, pause = 1_000, lock } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      let how: string;
      try {
        how = await inTurn(key, () => this.#wake(handle, view, key), lock);
        await handle.take({ signal: this.#aborting.signal });
      } catch (error) {
        if (this.#aborting.signal.aborted) return;
        if (attempt >= attempts || this.#ending.signal.aborted) return this.#tell(error, view.id, key);
        await pauseFor(pause * 2 ** (attempt - 1), this.#ending.signal);
        continue;
      }
      const { onWoken } = this.#options;
      if (onWoken !== undefined) callUsers("onWoken", () => onWoken({ handoff: view.id, key, how }));
      return;
    }
  }

  async #wake(handle: Handle, view: HandoffView, key: string): Promise<string> {
    // Its redrive is on the way, or has ended too: the outcome of that one counts.
    if (view.dead_letter?.status === "redriven") return "redriven";
    const signal = this.#aborting.signal;
    const outcome = await outcomeOf(handle, { signal });
    return this.#sleepers.wake({ key, view, outcome, handoffs: await lineOf(this.#hf, view), signal });
  }

  #tell(error: unknown, handoff: string, key: string): void {
    const { onError } = this.#options;
    if (onError !== undefined) return callUsers("onError", () => onError(error, { handoff, key }));
    warn(`The outcome of ${handoff} woke nobody${key === "" ? "" : ` (${key})`}: ${textOf(error)}`);
  }
}

/**
 * A function of the user's. Not waited for: it may well stop the waker, which waits for this. What it throws, at once or
 * later, is told, and wakes nobody again.
 */
function callUsers(name: string, call: () => unknown): void {
  const tell = (error: unknown) => warn(`The option ${name} threw ${textOf(error)}`);
  try {
    Promise.resolve(call()).catch(tell);
  } catch (error) {
    tell(error);
  }
}

function warn(message: string): void {
  process.emitWarning(message, "HandfastWarning");
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

const stopped = {
  reason: "waker_stopped",
  remedy: "Nothing is lost: the outcome is dealt with at the next start.",
  retryable: true,
  anchor: "usage",
};

/** From the newest to the first. One that retention has dropped ends it. */
async function lineOf(hf: Client, view: HandoffView): Promise<readonly string[]> {
  const line = [view.id];
  for (let earlier = view.redrive_of; earlier !== null; ) {
    line.push(earlier);
    try {
      earlier = (await hf.handle(earlier).status()).redrive_of;
    } catch (error) {
      if (error instanceof HandoffError && error.code === 404) break;
      throw error;
    }
  }
  return line;
}

function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
}
