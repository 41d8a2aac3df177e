/** An operator: cancels what runs, and redrives or discards dead letters, beside the senders who do the same. */

import { hasEnded } from "@handfast/core";
import type { Random } from "../random.ts";
import { Process } from "./process.ts";
import type { World } from "./world.ts";

export const operator = "olga";
const name = operator;

export class Operator extends Process {
  readonly #world: World;
  readonly #random: Random;

  constructor(world: World) {
    const random = world.random.fork();
    super(world.timeline, random, world.coverage);
    this.#world = world;
    this.#random = random;
  }

  async run(): Promise<void> {
    const { scenario, healed, anyHandoff } = this.#world;
    for (;;) {
      await this.sleep(this.#random.skewed(0, 4 * scenario.operator_every_ms));
      if (healed()) return;
      const handoff = anyHandoff(this.#random);
      if (handoff === null) continue;
      const { id, from } = handoff.accepted;
      const { status } = handoff;
      if (!hasEnded(status)) {
        if (scenario.cancel > 0) await this.#cancel(id);
      } else if (this.#random.chance(0.3)) await this.#discard(id);
      else await this.#redrive(id, from);
    }
  }

  async #cancel(id: string): Promise<void> {
    const { api } = this.#world;
    const command = { type: "cancel", actor, reason: "maintenance", evidence: "attested" } as const;
    const body = { kind: "cancel", document: '{"typ":"cancel"}', proof: null, payload: null } as const;
    await this.persist("cancel", 3, () => api.perform(name, id, command, { body, artifacts: [] }));
  }

  async #discard(id: string): Promise<void> {
    const { api } = this.#world;
    await this.persist("discard", 3, () => api.perform(name, id, { type: "discard", actor }));
  }

  /** The outcome goes to its sender, who finds it among those it has not taken. */
  async #redrive(id: string, from: string): Promise<void> {
    const { api, drafts, watch } = this.#world;
    const submission = drafts.redrive(from, id, `operator:${name}`);
    const answer = await this.persist("redrive", 3, () => api.redrive(name, id, actor, drafts.retry(submission)));
    if (answer?.redriven_as != null && this.#random.chance(0.5)) watch(from, answer.redriven_as);
  }
}

const actor = { kind: "operator", name } as const;
