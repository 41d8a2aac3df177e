/** One life of the relay: an engine on the disk, which can be frozen and can die at any time. */

import type { Duration, Time } from "@handfast/core";
import { Engine, type HandoffEngine, type Store, type Surroundings } from "@handfast/engine";
import { FaultyStore, type FaultyStoreOptions, InjectedFault } from "./faulty-store.ts";
import type { RelayTimes } from "./relay-times.ts";
import type { Timeline } from "./timeline.ts";

/** What actors reach. */
export type Front = HandoffEngine & Pick<Engine, "wakeups" | "chunks">;

export interface RelayOptions extends FaultyStoreOptions {
  readonly timeline: Timeline;
  readonly times: RelayTimes;
  readonly others: ConstructorParameters<typeof Engine>[0]["others"];
  /** Undefined: all agents are equal. */
  readonly standing: ConstructorParameters<typeof Engine>[0]["standing"];
  readonly note: ((text: string) => void) | null;
  readonly onStart: (now: Time) => void;
  /** A fault of the engine's own. */
  readonly onBug: (error: unknown) => void;
  /** What one process sees of the disk, and what actors see of its engine: places where mistakes are put back. */
  readonly wrapStore: (store: Store, timeline: Timeline) => Store;
  readonly wrapFront: (front: Front, timeline: Timeline) => Front;
}

/** Shorter absences are within what every clock allows anyway. */
const shortest_absence_ms: Duration = 50;

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

  constructor(options: RelayOptions, clock: { offset_ms: Duration }, crash: () => void) {
    this.#options = options;
    this.#clock = clock;
    const { scenario, timeline } = options;
    const process = this;
    const pausing = {
      get alive() {
        return process.alive;
      },
      pause: (delay_ms: Duration) => this.#pause(delay_ms),
      commits: () => this.#commits(),
    };
    this.store = options.wrapStore(
      new FaultyStore({ ...options, crash: (delay_ms) => void this.schedule(delay_ms, crash) }, pausing),
      timeline,
    );
    this.engine = new Engine({
      store: this.store,
      surroundings: this.#surroundings(),
      limits: scenario.limits,
      coreLimits: scenario.coreLimits,
      others: options.others,
      ...(options.standing === undefined ? {} : { standing: options.standing }),
      onBug: (error) => {
        if (!(error instanceof InjectedFault)) options.onBug(error);
      },
      onRecovery: (error, recovered) => {
        if (!(error instanceof InjectedFault)) options.onBug(error);
        if (!this.alive) return;
        options.note?.(recovered ? "recovered" : "could not recover");
        if (!recovered) return crash();
        const now = this.engine.now();
        options.times.resumed(now);
        options.times.failedToCommit(now);
      },
    });
    this.front = options.wrapFront(this.engine, timeline);
  }

  #surroundings(): Surroundings {
    const { timeline, random, decisions } = this.#options;
    const own = random.fork();
    return {
      now: () => timeline.now + this.#clock.offset_ms,
      random: () => own.next(),
      randomBytes: (count) => own.bytes(count),
      schedule: (delay_ms, callback) => this.schedule(delay_ms, callback),
      // A batch begins where the engine let others go first.
      defer: (callback) =>
        void this.schedule(0, () => {
          decisions.turn();
          callback();
        }),
    };
  }

  /** Only while this process lives, and only when it is not frozen. */
  schedule(delay_ms: Duration, callback: () => void): () => void {
    return this.#options.timeline.schedule(delay_ms, () => this.run(callback));
  }

  run(callback: () => void): void {
    if (!this.alive) return;
    if (!this.isFrozen) return callback();
    const { timeline } = this.#options;
    timeline.schedule(this.#frozen_until - timeline.now, () => this.run(callback));
  }

  get isFrozen(): boolean {
    return this.#options.timeline.now < this.#frozen_until;
  }

  #pause(delay_ms: Duration): Promise<void> {
    const back = delay_ms >= shortest_absence_ms ? this.leave() : null;
    return new Promise((resolve) => {
      this.schedule(delay_ms, () => {
        back?.();
        resolve();
      });
    });
  }

  /** Nobody is heard while a commit takes: a long one is as if the relay had stood still. */
  #commits(): () => void {
    const { times, scenario } = this.#options;
    const began = this.engine.now();
    return () => {
      const now = this.engine.now();
      if (now - began >= scenario.limits.stall_ms) times.resumed(now);
    };
  }

  /** It is away from now on; returns how to say that it is back. */
  leave(): () => void {
    const isBack = this.#options.times.leaves(this.engine.now());
    const back = () => {
      if (this.#absences.delete(back)) isBack(this.engine.now());
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
