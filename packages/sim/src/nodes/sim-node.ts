/** One node: an engine on the shared disk that lives until it crashes, and comes back as a new one. */

import { Engine, type Surroundings } from "@handfast/engine";
import type { Random } from "../random.ts";
import type { Timeline } from "../world/timeline.ts";
import type { Session, SharedDisk } from "./shared-disk.ts";

export interface NodeOptions {
  readonly disk: SharedDisk;
  readonly timeline: Timeline;
  readonly random: Random;
  /** How long a call to the disk takes at most. */
  readonly slow_ms: number;
  readonly onBug: (error: unknown) => void;
}

/** What whoever waits for an answer of a node that died gets. */
export class NodeGone extends Error {
  override readonly name = "NodeGone";
}

export class SimNode {
  readonly #options: NodeOptions;
  #life: Life | null = null;

  constructor(options: NodeOptions) {
    this.#options = options;
  }

  get isUp(): boolean {
    return this.#life?.isReady === true;
  }

  async start(): Promise<void> {
    const life = new Life(this.#options);
    this.#life = life;
    await life.engine.start();
    life.isReady = true;
  }

  crash(): void {
    this.#life?.die();
    this.#life = null;
  }

  /** Asks the node; fails when it dies before it answers. */
  ask<Answer>(question: (engine: Engine) => Promise<Answer>): Promise<Answer> {
    const life = this.#life;
    if (life === null || !life.isReady) return Promise.reject(new NodeGone("there is no such node"));
    return Promise.race([question(life.engine), life.death]);
  }
}

class Life implements Session {
  readonly engine: Engine;
  readonly death: Promise<never>;
  alive = true;
  isReady = false;
  readonly #options: NodeOptions;
  readonly #random: Random;
  #fail: (error: Error) => void = () => {};

  constructor(options: NodeOptions) {
    this.#options = options;
    this.#random = options.random.fork();
    this.death = new Promise((_, reject) => {
      this.#fail = reject;
    });
    // Nobody may be waiting for it.
    this.death.catch(() => {});
    this.engine = new Engine({
      store: options.disk.openFor(this),
      surroundings: this.#surroundings(),
      others: () => 1,
      onBug: options.onBug,
      onRecovery: (error) => options.onBug(error),
    });
  }

  step(): Promise<void> {
    return this.#options.timeline.sleep(this.#random.skewed(0, this.#options.slow_ms));
  }

  die(): void {
    this.alive = false;
    this.#options.disk.release(this);
    this.#fail(new NodeGone("the node died"));
  }

  #surroundings(): Surroundings {
    const { timeline } = this.#options;
    const whileAlive = (callback: () => void) => () => {
      if (this.alive) callback();
    };
    // Its own clock is off: all nodes go by the disk's.
    const off_ms = this.#random.between(-30_000, 30_000);
    return {
      now: () => timeline.now + off_ms,
      random: () => this.#random.next(),
      randomBytes: (count) => this.#random.bytes(count),
      schedule: (delay_ms, callback) => timeline.schedule(delay_ms, whileAlive(callback)),
      defer: (callback) => void timeline.schedule(0, whileAlive(callback)),
    };
  }
}
