/** A worker: one process of an agent, with some slots. It claims, and gives each lease to a task. */

import { type Handoff, liveLease } from "@handfast/core";
import { namespace } from "../namespace.ts";
import type { Random } from "../random.ts";
import type { Agent } from "../world/directory.ts";
import { Process } from "./process.ts";
import { Task } from "./task.ts";
import type { World } from "./world.ts";

export class Worker extends Process {
  readonly #world: World;
  readonly #random: Random;
  readonly #onCrash: () => void;
  readonly agent: Agent;
  readonly name: string;
  readonly life: string;
  readonly #slots: number;
  readonly #busy = new Set<string>();
  #requests = 0;
  #freed: (() => void) | null = null;

  constructor(world: World, agent: Agent, name: string, life: string, onCrash: () => void) {
    const random = world.random.fork();
    super(world.timeline, random, world.coverage);
    this.#world = world;
    this.agent = agent;
    this.#random = random;
    this.#onCrash = onCrash;
    this.name = name;
    this.life = life;
    this.#slots = random.between(1, 8);
  }

  override crash(): void {
    if (!this.alive) return;
    super.crash();
    this.#world.tally.add("faults", "worker crash");
    this.#onCrash();
  }

  async run(): Promise<void> {
    for (;;) {
      const slots = this.#slots - this.#busy.size;
      if (slots <= 0) await this.#slotFreed();
      else for (const handoff of await this.#claim(slots)) void this.#hold(handoff);
    }
  }

  #slotFreed(): Promise<void> {
    return new Promise((resolve) => {
      this.#freed = () => {
        if (this.alive) resolve();
      };
    });
  }

  /** The same request until it is answered; now and then the worker forgets which one it was. */
  async #claim(slots: number): Promise<readonly Handoff[]> {
    const { directory, api } = this.#world;
    this.#requests += 1;
    const { name: agent } = this.agent;
    const claim = {
      namespace,
      agent,
      worker: this.name,
      queues: () => directory.queues(this.agent),
      slots,
      request_id: `${this.life}-${this.#requests}`,
      wait_ms: this.#random.chance(0.05) ? 0 : this.#random.between(1_000, 30_000),
      offer: () => directory.offer(agent),
    };
    const times = this.#random.chance(0.1) ? 1 : 20;
    const leases = await this.persist("claim", times, () => api.claim(claim));
    if (claim.wait_ms === 0) await this.sleep(500);
    return leases ?? [];
  }

  async #hold(handoff: Handoff): Promise<void> {
    const lease = liveLease(handoff);
    if (lease === null) return;
    const name = `${handoff.accepted.id} ${lease.fence}`;
    if (this.#busy.has(name)) return;
    this.#busy.add(name);
    await new Task(this.#world, this, handoff, lease, this.#random).work();
    this.#busy.delete(name);
    this.#freed?.();
  }
}
