/**
 * The relay as processes: each start is a new engine on the same disk. A crash drops the engine and everything in
 * memory; a stall lets time pass without a turn; a jump moves its clock.
 */

import type { CoreLimits, Duration, Time } from "@handfast/core";
import { Engine, type EngineLimits, type HandoffEngine, type Store, type Surroundings } from "@handfast/engine";
import type { Faults } from "./faults.ts";
import { FaultyStore, InjectedFault } from "./faulty-store.ts";
import type { Random } from "./random.ts";
import type { RelayTimes } from "./relay-times.ts";
import type { Tally } from "./tally.ts";
import type { Timeline } from "./timeline.ts";

/** What actors reach. */
export type Front = HandoffEngine & Pick<Engine, "wakeups">;

export interface RelayOptions {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly faults: () => Faults;
  readonly tally: Tally;
  readonly times: RelayTimes;
  readonly others: ConstructorParameters<typeof Engine>[0]["others"];
  readonly limits: Partial<EngineLimits>;
  readonly coreLimits: Partial<CoreLimits>;
  readonly note: (text: string) => void;
  readonly onStart: (now: Time) => void;
  /** A fault of the engine's own. */
  readonly onBug: (error: unknown) => void;
  /** What one process sees of the disk, and what actors see of its engine: the places where mistakes are put back. */
  readonly disk: Store;
  readonly wrapStore: (store: Store, timeline: Timeline) => Store;
  readonly wrapFront: (front: Front) => Front;
}

/** One life of the relay. */
export class RelayProcess {
  readonly front: Front;
  readonly engine: Engine;
  readonly store: Store;
  readonly #options: RelayOptions;
  readonly #mourners = new Set<() => void>();
  /** The machine's clock, as far as it is off. */
  readonly #clock: { offset_ms: Duration };
  readonly #absences = new Set<() => void>();
  alive = true;
  #frozen_until: Time = 0;

  constructor(options: RelayOptions, clock: { offset_ms: Duration }, onLost: () => void) {
    this.#options = options;
    this.#clock = clock;
    const { timeline, random, faults, tally } = options;
    const process = this;
    const pausing = {
      get alive() {
        return process.alive;
      },
      pause: (delay_ms: Duration) => {
        const back = this.leave();
        return new Promise<void>((resolve) => {
          this.schedule(delay_ms, () => {
            back();
            resolve();
          });
        });
      },
    };
    this.store = options.wrapStore(new FaultyStore(options.disk, pausing, random.fork(), faults, tally), timeline);
    this.engine = new Engine({
      store: this.store,
      surroundings: this.#surroundings(),
      limits: options.limits,
      coreLimits: options.coreLimits,
      others: options.others,
      onBug: (error) => {
        if (!(error instanceof InjectedFault)) options.onBug(error);
      },
      onRecovery: (error, recovered) => {
        if (!(error instanceof InjectedFault)) options.onBug(error);
        if (!this.alive) return;
        options.note(recovered ? "recovered" : "could not recover");
        if (recovered) options.times.resumed(this.engine.now());
        else onLost();
      },
    });
    this.front = options.wrapFront(this.engine);
  }

  #surroundings(): Surroundings {
    const { timeline, random } = this.#options;
    const own = random.fork();
    return {
      now: () => timeline.now + this.#clock.offset_ms,
      random: () => own.next(),
      randomBytes: (count) => own.bytes(count),
      schedule: (delay_ms, callback) => this.schedule(delay_ms, callback),
      defer: (callback) => void this.schedule(0, callback),
    };
  }

  /** Only while this process lives, and only when it is not frozen. */
  schedule(delay_ms: Duration, callback: () => void): () => void {
    let canceled = false;
    this.#options.timeline.schedule(delay_ms, () => {
      if (!canceled) this.run(() => canceled || callback());
    });
    return () => {
      canceled = true;
    };
  }

  run(callback: () => void): void {
    if (!this.alive) return;
    const { timeline } = this.#options;
    if (timeline.now >= this.#frozen_until) return callback();
    timeline.schedule(this.#frozen_until - timeline.now, () => this.run(callback));
  }

  /** It is away from now on; returns how to say that it is back. */
  leave(): () => void {
    const began = this.engine.now();
    const back = () => {
      if (this.#absences.delete(back)) this.#options.times.away(began, this.engine.now());
    };
    this.#absences.add(back);
    return back;
  }

  freeze(duration_ms: Duration): void {
    this.#frozen_until = Math.max(this.#frozen_until, this.#options.timeline.now + duration_ms);
  }

  /** Told when the process is gone; returns how to stop caring. */
  onDeath(mourner: () => void): () => void {
    this.#mourners.add(mourner);
    return () => this.#mourners.delete(mourner);
  }

  die(): void {
    this.alive = false;
    for (const back of this.#absences) back();
    for (const mourner of this.#mourners) mourner();
    this.#mourners.clear();
  }
}

export class Relay {
  readonly #options: RelayOptions;
  readonly #clock = { offset_ms: 0 };
  readonly #random: Random;
  #process: RelayProcess | null = null;
  #last_now: Time = 0;
  #starting = false;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#random = options.random.fork();
  }

  /** The process that answers now; null while there is none. */
  get process(): RelayProcess | null {
    return this.#starting ? null : this.#process;
  }

  async start(): Promise<void> {
    const { times, note, onStart } = this.#options;
    this.#starting = true;
    const process = new RelayProcess(this.#options, this.#clock, () => {
      if (this.#process === process) this.crash();
    });
    this.#process = process;
    await process.engine.start();
    if (this.#process !== process) return;
    this.#starting = false;
    const now = process.engine.now();
    times.away(this.#last_now, now);
    times.resumed(now);
    onStart(now);
    note(`started at ${now}`);
  }

  /** Gone at once; back after a while, perhaps on a machine whose clock was set. */
  crash(): void {
    const { timeline, tally, note, faults } = this.#options;
    const process = this.#process;
    if (process === null || this.#starting) return;
    tally.add("faults", "relay crash");
    note("crashed");
    this.#last_now = process.engine.now();
    this.#process = null;
    process.die();
    if (faults().clock_jump_every_ms !== null && this.#random.chance(0.3)) {
      tally.add("faults", "clock set while down");
      this.#clock.offset_ms += this.#random.between(-30_000, 30_000);
    }
    timeline.schedule(this.#random.skewed(50, 40_000), () => void this.start());
  }

  stall(): void {
    const { timeline, tally, note } = this.#options;
    const process = this.process;
    if (process === null) return;
    const duration_ms = this.#random.skewed(100, 60_000);
    tally.add("faults", "relay stall");
    note(`stalls for ${duration_ms} ms`);
    const back = process.leave();
    process.freeze(duration_ms);
    timeline.schedule(duration_ms, () => {
      back();
      // Shorter ones the relay need not notice.
      if (duration_ms >= noticed_ms) this.#resume(process);
    });
  }

  jump(): void {
    const { times, tally, note } = this.#options;
    const process = this.process;
    if (process === null) return;
    const jump_ms = this.#random.skewed(100, 120_000);
    tally.add("faults", "clock jump");
    note(`its clock jumps by ${jump_ms} ms`);
    const now = process.engine.now();
    this.#clock.offset_ms += jump_ms;
    times.away(now, now + jump_ms);
    if (jump_ms >= noticed_ms) this.#resume(process);
  }

  #resume(process: RelayProcess): void {
    if (process === this.process) this.#options.times.resumed(process.engine.now());
  }
}

/** The engine's own limit is 5 s without a look at the clock, and it looks once a second. */
const noticed_ms: Duration = 6_500;
