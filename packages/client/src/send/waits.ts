/**
 * Waits for handoffs to be acknowledged or to end. Each is one call that the relay holds open; a relay bounds how many an
 * agent may have. Beyond that bound a wait holds no call of its own: one call for all hears of outcomes that come, and
 * each looks for itself now and then, in case somebody else took its outcome first.
 */

import type { HandoffView } from "@handfast/protocol/wire";
import type { Base } from "../base.ts";
import { RelayUnreachable } from "../errors.ts";
import { joinSignals } from "../link/any-signal.ts";
import { pause } from "../link/persist.ts";
import { sendLimits } from "./limits.ts";
import { untaken } from "./newcomers.ts";
import { orAborted } from "./or-aborted.ts";

type Until = "acknowledged" | "ended";

const ends: ReadonlySet<string> = new Set(["completed", "failed", "rejected", "canceled", "expired"]);

export function hasEnded({ state }: Pick<HandoffView, "state">): boolean {
  return ends.has(state);
}

function isAcknowledged(view: Pick<HandoffView, "state">): boolean {
  return view.state === "working" || view.state === "waiting" || hasEnded(view);
}

export class Waits {
  readonly #base: Base;
  readonly #most: number;
  #held = 0;
  /** Those that wait without a call of their own, by handoff. */
  readonly #listening = new Map<string, Set<(view: HandoffView | null) => void>>();
  #feed: AbortController | null = null;

  constructor(base: Base, most: number = sendLimits.waits) {
    this.#base = base;
    this.#most = most;
    // They look once more, and the link tells each that the client is closed.
    base.closed.addEventListener("abort", () => this.#rouse(), { once: true });
  }

  /** A relay that is away is waited for until `deadline_at`, where that is known: the handoff lives on there. */
  async until(
    id: string,
    until: Until,
    deadline_at: () => number | null,
    signal: AbortSignal | undefined,
  ): Promise<HandoffView> {
    const isReady = until === "ended" ? hasEnded : isAcknowledged;
    for (;;) {
      try {
        const view = await this.#look(id, until, signal);
        if (isReady(view)) return view;
      } catch (error) {
        const isAway = error instanceof RelayUnreachable && !signal?.aborted && !this.#base.closed.aborted;
        if (!isAway || this.#base.surroundings.now() >= (deadline_at() ?? 0)) throw error;
        // The link was as patient as it is set to be: with no patience at all this would be a busy loop.
        await pause(this.#base.surroundings, sendLimits.pause_least_ms, signal);
      }
    }
  }

  async #look(id: string, until: Until, signal: AbortSignal | undefined): Promise<HandoffView> {
    if (this.#held >= this.#most) return this.#listen(id, until, signal);
    this.#held += 1;
    try {
      return await this.#get(id, until, sendLimits.wait_ms, signal);
    } finally {
      this.#held -= 1;
    }
  }

  #get(id: string, until: Until, wait_ms: number, signal: AbortSignal | undefined): Promise<HandoffView> {
    const wait = wait_ms > 0 ? { wait_ms } : {};
    return this.#base.link.call("get", { params: { id }, query: { until } }, { signal, ...wait });
  }

  /** Begins to listen before it looks: an outcome between the two is then heard. */
  async #listen(id: string, until: Until, signal: AbortSignal | undefined): Promise<HandoffView> {
    const { promise, resolve } = Promise.withResolvers<HandoffView | null>();
    const listeners = this.#listening.get(id) ?? new Set();
    this.#listening.set(id, listeners.add(resolve));
    this.#feed ??= this.#hear();
    const look_ms = until === "ended" ? sendLimits.look_ms : sendLimits.look_for_ack_ms;
    let callOff = () => {};
    try {
      const view = await this.#get(id, until, 0, signal);
      if (until === "ended" ? hasEnded(view) : isAcknowledged(view)) return view;
      callOff = this.#base.surroundings.after(look_ms, () => resolve(null), true);
      return (await (signal === undefined ? promise : orAborted(promise, signal))) ?? view;
    } finally {
      callOff();
      listeners.delete(resolve);
      if (listeners.size === 0) this.#listening.delete(id);
      if (this.#listening.size === 0) this.#hush();
    }
  }

  #rouse(): void {
    for (const listeners of this.#listening.values()) for (const heard of listeners) heard(null);
  }

  #hear(): AbortController {
    const controller = new AbortController();
    const { signal, release } = joinSignals(controller.signal, this.#base.closed);
    const hear = async () => {
      for await (const view of untaken(this.#base, true, signal)) {
        for (const heard of this.#listening.get(view.id) ?? []) heard(view);
      }
    };
    hear()
      // Each that listens looks for itself too, and tells its caller what is wrong.
      .catch(() => {})
      .finally(() => {
        release();
        if (this.#feed === controller) this.#feed = null;
      });
    return controller;
  }

  #hush(): void {
    this.#feed?.abort();
    this.#feed = null;
  }
}
