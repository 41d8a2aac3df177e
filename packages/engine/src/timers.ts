/** One timer for everything that time changes: it sleeps until the earliest, then settles what is due in a batch. */

import type { Duration, Time } from "@handfast/core";
import type { Batch } from "./batch.ts";
import type { Job } from "./jobs.ts";
import type { Surroundings } from "./surroundings.ts";
import type { UnitBuilder } from "./unit.ts";

/** How long to rest after a sweep that came to nothing, so that a mistake of ours does not spin. */
const pause_ms = 1_000;

interface TimerOptions {
  readonly surroundings: Surroundings;
  readonly now: () => Time;
  readonly nextDue: () => Promise<Time | null>;
  /** Settles what is due; `settled` gets the units. */
  readonly planDue: (batch: Batch, settled: UnitBuilder[]) => void;
  readonly enqueue: (job: Job) => void;
}

export class Timers {
  readonly #options: TimerOptions;
  #wake_at: Time | null = null;
  #sweeping = false;
  #running = false;
  #cancel: () => void = () => {};

  constructor(options: TimerOptions) {
    this.#options = options;
  }

  /** Begins, or begins anew after the store was read afresh. */
  async start(): Promise<void> {
    this.#wake_at = await this.#options.nextDue();
    this.#running = true;
    this.#arm();
  }

  stop(): void {
    this.#running = false;
    this.#cancel();
  }

  /** Something will be due then. */
  notice(at: Time): void {
    if (this.#wake_at !== null && this.#wake_at <= at) return;
    this.#wake_at = at;
    this.#arm();
  }

  /** The clock may have jumped since the timer was set: it counts by another clock. */
  setAnew(): void {
    this.#arm();
  }

  #arm(): void {
    this.#cancel();
    if (!this.#running || this.#wake_at === null || this.#sweeping) return;
    const delay_ms = Math.max(1, this.#wake_at - this.#options.now());
    this.#cancel = this.#options.surroundings.schedule(delay_ms, () => this.#sweep());
  }

  #sweep(): void {
    if (this.#sweeping || !this.#running) return;
    this.#sweeping = true;
    const failed = () => this.#restart(this.#options.now() + pause_ms);
    const settled: UnitBuilder[] = [];
    this.#options.enqueue({
      class: "timer",
      bytes: 0,
      wants: [],
      decide: (batch) => {
        this.#wake_at = null;
        this.#options.planDue(batch, settled);
        return { units: [], answer: () => void this.#swept(settled.length > 0).catch(failed) };
      },
      fail: failed,
    });
  }

  async #swept(progress: boolean): Promise<void> {
    const next = await this.#options.nextDue();
    const now = this.#options.now();
    const stuck = !progress && next !== null && next <= now;
    this.#restart(stuck ? now + pause_ms : next);
  }

  #restart(at: Time | null): void {
    this.#sweeping = false;
    if (at !== null) this.#wake_at = this.#wake_at === null ? at : Math.min(this.#wake_at, at);
    this.#arm();
  }
}

/** Looks at the clock again and again: a gap means the process was stalled, and no lease is lost for it. */
export class Pulse {
  readonly #surroundings: Surroundings;
  readonly #now: () => Time;
  readonly #every_ms: Duration;
  readonly #stall_ms: Duration;
  #cancel: () => void = () => {};
  #last: Time;
  /** When the relay last started, stalled or was recovered. */
  resumed_at: Time;

  constructor(
    surroundings: Surroundings,
    now: () => Time,
    limits: { readonly pulse_ms: Duration; readonly stall_ms: Duration },
  ) {
    this.#surroundings = surroundings;
    this.#now = now;
    this.#every_ms = limits.pulse_ms;
    this.#stall_ms = limits.stall_ms;
    this.#last = now();
    this.resumed_at = this.#last;
  }

  start(onBeat: () => void): void {
    this.resume();
    const beat = () => {
      this.notice();
      this.#cancel = this.#surroundings.schedule(this.#every_ms, beat);
      onBeat();
    };
    this.#cancel = this.#surroundings.schedule(this.#every_ms, beat);
  }

  stop(): void {
    this.#cancel();
  }

  /** The relay was away until now. */
  resume(): void {
    this.#last = this.#now();
    this.resumed_at = this.#last;
  }

  notice(): void {
    const now = this.#now();
    if (now - this.#last >= this.#stall_ms) this.resumed_at = now;
    this.#last = now;
  }
}
