/**
 * The relay as processes: each start is a new engine on the same disk. A crash drops the engine and everything in
 * memory; a restart lets it finish first; a stall lets time pass without a turn; a jump moves its clock.
 */

import type { Duration, Time } from "@handfast/core";
import type { Random } from "../random.ts";
import { type RelayOptions, RelayProcess } from "./relay-process.ts";

export class Relay {
  readonly #options: RelayOptions;
  readonly #clock = { offset_ms: 0 };
  readonly #random: Random;
  #process: RelayProcess | null = null;
  #last_now: Time = 0;
  #starting = false;
  #stalls = 0;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#random = options.random.fork();
  }

  /** The process that answers now; null while there is none. */
  get process(): RelayProcess | null {
    return this.#starting ? null : this.#process;
  }

  /** It runs, and no stall goes on, in which somebody may still lose patience with it. */
  get isWell(): boolean {
    return this.process !== null && this.#stalls === 0;
  }

  /** What its clock shows, whether it runs or not. */
  get now(): Time {
    return this.#process?.engine.now() ?? this.#options.timeline.now + this.#clock.offset_ms;
  }

  async start(): Promise<void> {
    const { times, note, onStart } = this.#options;
    this.#starting = true;
    const process: RelayProcess = new RelayProcess(this.#options, this.#clock, () => {
      if (this.#process === process) this.crash();
    });
    this.#process = process;
    await process.engine.start();
    if (this.#process !== process) return;
    this.#starting = false;
    const now = process.engine.now();
    times.resumed(now);
    if (this.#last_now > 0) {
      times.away(this.#last_now, now);
      times.restarted_at = now;
    }
    onStart(now);
    note?.(`started at ${now}`);
  }

  /** Gone at once; back after a while, perhaps on a machine whose clock was set. */
  crash(): void {
    const { tally, note, faults } = this.#options;
    const process = this.process;
    if (process === null) return;
    tally.add("faults", "relay crash");
    note?.("crashed");
    this.#gone(process);
    if (faults().clock_jump_every_ms !== null && this.#random.chance(0.3)) {
      tally.add("faults", "clock set while down");
      this.#clock.offset_ms += this.#random.between(-30_000, 30_000);
    }
    this.#startIn(this.#random.skewed(50, 40_000));
  }

  /** As an operator does it: what was asked is finished first. */
  async restart(): Promise<void> {
    const { tally, note, times } = this.#options;
    const process = this.process;
    if (process === null || times.isStopping) return;
    tally.add("faults", "relay restart");
    note?.("stops");
    times.isStopping = true;
    await process.engine.stop();
    if (this.process !== process) return;
    this.#gone(process);
    this.#startIn(this.#random.between(50, 3_000));
  }

  #gone(process: RelayProcess): void {
    this.#last_now = process.engine.now();
    this.#options.times.isStopping = false;
    this.#process = null;
    this.#options.decisions.crashed();
    process.die();
  }

  #startIn(delay_ms: Duration): void {
    this.#options.timeline.schedule(delay_ms, () => void this.start());
  }

  stall(): void {
    const { timeline, tally, note, times } = this.#options;
    const process = this.process;
    if (process === null) return;
    const duration_ms = this.#random.skewed(100, 60_000);
    tally.add("faults", "relay stall");
    note?.(`stalls for ${duration_ms} ms`);
    this.#stalls += 1;
    const back = process.leave();
    process.freeze(duration_ms);
    // Someone may lose patience with a relay that hangs, and kill it.
    if (this.#random.chance(0.2)) {
      timeline.schedule(duration_ms * this.#random.next(), () => {
        if (process === this.process) this.crash();
      });
    }
    timeline.schedule(duration_ms, () => {
      this.#stalls -= 1;
      back();
      if (process === this.process) times.stalled_at = process.engine.now();
      this.#resume(process, duration_ms);
    });
  }

  jump(): void {
    const { times, tally, note } = this.#options;
    const process = this.process;
    if (process === null) return;
    const jump_ms = this.#random.skewed(100, 120_000);
    tally.add("faults", "clock jump");
    note?.(`its clock jumps by ${jump_ms} ms`);
    const now = process.engine.now();
    this.#clock.offset_ms += jump_ms;
    times.away(now, now + jump_ms);
    times.jumped_at = now + jump_ms;
    this.#resume(process, jump_ms);
  }

  /** The engine must notice a gap of `stall_ms` between two looks at its clock; shorter ones it may. */
  #resume(process: RelayProcess, gap_ms: Duration): void {
    const { times, scenario } = this.#options;
    if (process !== this.process) return;
    if (gap_ms >= scenario.limits.stall_ms) times.resumed(process.engine.now());
    else times.mayHaveResumed(process.engine.now());
  }
}
